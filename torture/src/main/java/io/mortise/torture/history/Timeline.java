package io.mortise.torture.history;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Who held which lock when, coarsely enough to be drawn. Takes the same events as a {@link
 * HistoryChecker}. For one thread.
 */
public final class Timeline {
  /** How many columns a run is divided into. */
  public static final int COLUMNS = 1_000;

  private final long began;
  private final double nanosPerColumn;

  /** Columns in which a process held a lock: lock, process, columns. */
  private final Map<String, Map<Integer, boolean[]>> held = new TreeMap<>();

  private final List<FaultBand> faults = new ArrayList<>();
  private final List<ViolationMark> violationMarks = new ArrayList<>();
  private final Map<Integer, HistoryEvent> holding = new HashMap<>();
  private final Map<String, HistoryEvent> under = new HashMap<>();

  /** A fault, from one column to another. */
  public record FaultBand(String fault, int process, double from, double to) {}

  /** A finding. */
  public record ViolationMark(String lock, double at, String text) {}

  /** Of a run that lasted from one moment to another. */
  public Timeline(long began, long ended) {
    this.began = began;
    this.nanosPerColumn = Math.max(1, (ended - began) / (double) COLUMNS);
  }

  private double column(long nanos) {
    return Math.max(0, Math.min(COLUMNS - 1, (nanos - began) / nanosPerColumn));
  }

  /** Takes an event in. */
  public void take(HistoryEvent historyEvent) {
    switch (historyEvent.kind()) {
      case HOLDS -> holding.put(historyEvent.worker(), historyEvent);
      case SURE, GAVE -> held(historyEvent);
      case FAULT -> under.put(historyEvent.lock() + historyEvent.worker(), historyEvent);
      case HEALED -> {
        HistoryEvent fault = under.remove(historyEvent.lock() + historyEvent.worker());
        if (fault != null) {
          faults.add(
              new FaultBand(
                  historyEvent.lock(),
                  historyEvent.process(),
                  column(fault.nanos()),
                  column(historyEvent.nanos())));
        }
      }
      default -> {}
    }
  }

  private void held(HistoryEvent historyEvent) {
    HistoryEvent from = holding.get(historyEvent.worker());
    if (from == null
        || from.attempt() != historyEvent.attempt()
        || historyEvent.lock().startsWith(HistoryChecker.OWN)) {
      return;
    }
    boolean[] columns =
        held.computeIfAbsent(historyEvent.lock(), lock -> new TreeMap<>())
            .computeIfAbsent(historyEvent.process(), process -> new boolean[COLUMNS]);
    for (int i = (int) column(from.nanos()); i <= (int) column(historyEvent.nanos()); i++) {
      columns[i] = true;
    }
  }

  /** Marks a finding. */
  public void mark(HistoryViolation historyViolation) {
    violationMarks.add(
        new ViolationMark(
            historyViolation.lock(),
            column(historyViolation.nanos()),
            historyViolation.rule().promise() + ": " + historyViolation.text()));
  }

  /** Of each lock and process, in which columns it held. */
  public Map<String, Map<Integer, boolean[]>> held() {
    return held;
  }

  /** What went wrong when. */
  public List<FaultBand> faults() {
    return faults;
  }

  /** What was found. */
  public List<ViolationMark> marks() {
    return violationMarks;
  }
}
