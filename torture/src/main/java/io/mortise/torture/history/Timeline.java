package io.mortise.torture.history;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Who held which lock when, coarsely enough to be drawn. Takes the same events as a {@link
 * Checker}. For one thread.
 */
public final class Timeline {
  /** How many columns a run is divided into. */
  public static final int COLUMNS = 1_000;

  private final long began;
  private final double nanosPerColumn;

  /** Columns in which a process held a lock: lock, process, columns. */
  private final Map<String, Map<Integer, boolean[]>> held = new TreeMap<>();

  private final List<Band> faults = new ArrayList<>();
  private final List<Mark> marks = new ArrayList<>();
  private final Map<Integer, Event> holding = new HashMap<>();
  private final Map<String, Event> under = new HashMap<>();

  /** A fault, from one column to another. */
  public record Band(String fault, int process, double from, double to) {}

  /** A finding. */
  public record Mark(String lock, double at, String text) {}

  /** Of a run that lasted from one moment to another. */
  public Timeline(long began, long ended) {
    this.began = began;
    this.nanosPerColumn = Math.max(1, (ended - began) / (double) COLUMNS);
  }

  private double column(long nanos) {
    return Math.max(0, Math.min(COLUMNS - 1, (nanos - began) / nanosPerColumn));
  }

  /** Takes an event in. */
  public void take(Event event) {
    switch (event.kind()) {
      case HOLDS -> holding.put(event.worker(), event);
      case SURE, GAVE -> held(event);
      case FAULT -> under.put(event.lock() + event.worker(), event);
      case HEALED -> {
        Event fault = under.remove(event.lock() + event.worker());
        if (fault != null) {
          faults.add(
              new Band(
                  event.lock(), event.process(), column(fault.nanos()), column(event.nanos())));
        }
      }
      default -> {}
    }
  }

  private void held(Event event) {
    Event from = holding.get(event.worker());
    if (from == null || from.attempt() != event.attempt() || event.lock().startsWith(Checker.OWN)) {
      return;
    }
    boolean[] columns =
        held.computeIfAbsent(event.lock(), lock -> new TreeMap<>())
            .computeIfAbsent(event.process(), process -> new boolean[COLUMNS]);
    for (int i = (int) column(from.nanos()); i <= (int) column(event.nanos()); i++) {
      columns[i] = true;
    }
  }

  /** Marks a finding. */
  public void mark(Finding finding) {
    marks.add(
        new Mark(
            finding.lock(),
            column(finding.nanos()),
            finding.rule().promise() + ": " + finding.text()));
  }

  /** Of each lock and process, in which columns it held. */
  public Map<String, Map<Integer, boolean[]>> held() {
    return held;
  }

  /** What went wrong when. */
  public List<Band> faults() {
    return faults;
  }

  /** What was found. */
  public List<Mark> marks() {
    return marks;
  }
}
