package io.mortise.testkit.history;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Gathers events from many threads. Thread-safe. */
public final class HistoryRecorder {
  private final List<AttemptEvent> events = new ArrayList<>();

  /** An empty history. */
  public HistoryRecorder() {}

  /** Adds an event; they may arrive in any order. */
  public synchronized void add(AttemptEvent event) {
    events.add(event);
  }

  /**
   * Returns a copy of all events so far, by time; events of the same time stay in order of arrival.
   */
  public synchronized List<AttemptEvent> events() {
    List<AttemptEvent> sorted = new ArrayList<>(events);
    sorted.sort(Comparator.comparingLong(AttemptEvent::nanos));
    return List.copyOf(sorted);
  }
}
