package io.mortise.cli.view;

import io.mortise.console.view.LockFormatter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.StringJoiner;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

/** The events of locks in a recording of the Java Flight Recorder. */
public final class FlightEvents {
  private static final String PREFIX = "io.mortise.";

  private FlightEvents() {}

  /**
   * An event.
   *
   * @param kind {@code Acquire}, {@code Hold}, {@code Lost}, {@code Renewal} or {@code Session}
   * @param lock empty for renewals and sessions, which concern all locks of a process
   * @param took its duration; for a loss, the time that the lease was held
   * @param token 0 if there is none
   * @param detail outcome, label and reason
   */
  public record FlightEntry(
      Instant start, String kind, String lock, Duration took, long token, String detail) {

    /** The output of {@code --json}. */
    public Map<String, Object> json() {
      Map<String, Object> all = new LinkedHashMap<>();
      all.put("start", start.toString());
      all.put("event", kind);
      all.put("lock", lock);
      all.put("tookMillis", took.toNanos() / 1e6);
      all.put("token", LockFormatter.jsonToken(token));
      all.put("detail", detail);
      return all;
    }
  }

  /**
   * Reads a recording. Blocks.
   *
   * @throws IllegalArgumentException if there is no such file, or it cannot be read as a recording
   */
  public static List<FlightEntry> read(Path file) {
    if (!Files.isRegularFile(file)) {
      throw new IllegalArgumentException("There is no file '" + file + "'.");
    }
    List<FlightEntry> found = new ArrayList<>();
    try (RecordingFile recording = new RecordingFile(file)) {
      while (recording.hasMoreEvents()) {
        RecordedEvent event = recording.readEvent();
        if (event.getEventType().getName().startsWith(PREFIX)) {
          found.add(entry(event));
        }
      }
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "File '" + file + "' cannot be read as a flight recording: " + e.getMessage());
    }
    return found;
  }

  private static FlightEntry entry(RecordedEvent event) {
    StringJoiner detail = new StringJoiner(", ");
    for (String field :
        List.of("outcome", "end", "cause", "state", "access", "lockLabel", "store", "reason")) {
      String text = text(event, field);
      if (!text.isEmpty()) {
        detail.add(text);
      }
    }
    return new FlightEntry(
        event.getStartTime(),
        event.getEventType().getName().substring(PREFIX.length()),
        text(event, "lock"),
        took(event),
        event.hasField("token") ? event.getLong("token") : 0,
        detail.toString());
  }

  private static Duration took(RecordedEvent event) {
    for (String field : List.of("held", "took")) {
      if (event.hasField(field)) {
        return event.getDuration(field);
      }
    }
    return event.getDuration();
  }

  private static String text(RecordedEvent event, String field) {
    return event.hasField(field) ? Objects.requireNonNullElse(event.getString(field), "") : "";
  }
}
