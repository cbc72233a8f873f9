package io.mortise.testkit.history;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Gathers events from many threads. Thread-safe. */
public final class HistoryRecorder {
  private final List<Event> events = new ArrayList<>();

  /** An empty history. */
  public HistoryRecorder() {}

  /** Adds an event; they may arrive in any order. */
  public synchronized void add(Event event) {
    events.add(event);
  }

  /** A copy of all so far, by time; events of one time stay in the order in which they came. */
  public synchronized List<Event> events() {
    List<Event> sorted = new ArrayList<>(events);
    sorted.sort(Comparator.comparingLong(Event::nanos));
    return List.copyOf(sorted);
  }
}
