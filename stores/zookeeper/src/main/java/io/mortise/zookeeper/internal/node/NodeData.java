package io.mortise.zookeeper.internal.node;

import io.mortise.spi.AttemptId;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.SessionSpec;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The contents of nodes: one line of UTF-8 each, parts separated by blanks, the free text last.
 *
 * <p>A foreign client may have written below our root; unreadable data is null, and treated as an
 * unknown attempt.
 */
public final class NodeData {
  private NodeData() {}

  /** Marks nodes after an at-least time was started: the queue is to be listed. */
  private static final String TIMED = "!";

  /** An attempt: {@code ATTEMPT TTL_MS LABEL}. */
  public record AttemptData(AttemptId attempt, Duration ttl, String label) {}

  /** A process: {@code BEAT TTL_MS HOST PID NAME}. */
  public record SessionData(long beat, Duration ttl, ClientLabel client) {}

  public static String attempt(AttemptId attempt, Duration ttl, String label) {
    return attempt.encoded() + " " + ttl.toMillis() + " " + label;
  }

  public static @Nullable AttemptData attempt(byte @Nullable [] data) {
    try {
      String[] parts = text(data).split(" ", 3);
      return new AttemptData(
          AttemptId.parse(parts[0]), Duration.ofMillis(Long.parseLong(plain(parts[1]))), parts[2]);
    } catch (RuntimeException e) {
      return null;
    }
  }

  public static byte[] member(SessionSpec spec, long beat) {
    return bytes(beat + " " + spec.ttl().toMillis() + " " + spec.client().encoded());
  }

  public static @Nullable SessionData member(byte @Nullable [] data) {
    try {
      String[] parts = text(data).split(" ", 3);
      return new SessionData(
          Long.parseLong(parts[0]),
          Duration.ofMillis(Long.parseLong(parts[1])),
          ClientLabel.parse(parts[2]));
    } catch (RuntimeException e) {
      return null;
    }
  }

  public static byte[] capacity(int capacity) {
    return bytes(Integer.toString(capacity));
  }

  /** The capacity in a container's data; 0 if it has none. */
  public static int capacity(byte @Nullable [] data) {
    try {
      return Math.max(0, Integer.parseInt(plain(text(data))));
    } catch (RuntimeException e) {
      return 0;
    }
  }

  private static String plain(String number) {
    return number.endsWith(TIMED) ? number.substring(0, number.length() - 1) : number;
  }

  /** The data of a hold or of a container, with the sign that an at-least time was started. */
  public static byte[] timed(byte @Nullable [] data) {
    String text = text(data);
    int end = numberEnd(text);
    return isTimed(data) || data == null
        ? bytes(text)
        : bytes(text.substring(0, end) + TIMED + text.substring(end));
  }

  /** Whether an at-least time was started for a hold, or ever in a container. */
  public static boolean isTimed(byte @Nullable [] data) {
    String text = text(data);
    return text.substring(0, numberEnd(text)).endsWith(TIMED);
  }

  /** The end of the TTL, or of the capacity. */
  private static int numberEnd(String text) {
    int second = text.indexOf(' ', text.indexOf(' ') + 1);
    return second < 0 ? text.length() : second;
  }

  public static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** The whole text; empty if there is none. */
  public static String text(byte @Nullable [] data) {
    return data == null ? "" : new String(data, StandardCharsets.UTF_8);
  }
}
