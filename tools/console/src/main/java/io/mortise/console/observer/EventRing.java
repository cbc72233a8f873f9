package io.mortise.console.observer;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The last events. Thread-safe. */
public final class EventRing {
  /** The most events kept. */
  static final int KEPT = 100_000;

  private final @Nullable ObservedEvent[] events;
  private long last;

  EventRing(int capacity) {
    this.events = new ObservedEvent[capacity];
  }

  /** Restores events of an earlier console, oldest first, with their numbers. */
  synchronized void restore(List<ObservedEvent> before) {
    for (ObservedEvent event : before) {
      events[(int) (event.seq() % events.length)] = event;
      last = Math.max(last, event.seq());
    }
  }

  synchronized ObservedEvent add(ObservedEvent event) {
    last++;
    ObservedEvent kept = event.withSeq(last);
    events[(int) (last % events.length)] = kept;
    return kept;
  }

  /** The number of the newest event; 0 if there is none. */
  public synchronized long last() {
    return last;
  }

  /** The number of the oldest kept event; 1 if there is none. */
  public synchronized long first() {
    return Math.max(1, last - events.length + 1);
  }

  /** The events after a number, oldest first. */
  public synchronized List<ObservedEvent> after(
      long seq, Predicate<ObservedEvent> wanted, int limit) {
    List<ObservedEvent> found = new ArrayList<>();
    for (long i = Math.max(seq + 1, first()); i <= last && found.size() < limit; i++) {
      add(found, i, wanted);
    }
    return found;
  }

  /** The newest events, newest first. */
  public synchronized List<ObservedEvent> latest(Predicate<ObservedEvent> wanted, int limit) {
    List<ObservedEvent> found = new ArrayList<>();
    for (long i = last; i >= first() && found.size() < limit; i--) {
      add(found, i, wanted);
    }
    return Collections.unmodifiableList(found);
  }

  private void add(List<ObservedEvent> found, long seq, Predicate<ObservedEvent> wanted) {
    ObservedEvent event = events[(int) (seq % events.length)];
    if (event != null && wanted.test(event)) {
      found.add(event);
    }
  }
}
