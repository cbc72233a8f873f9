package io.mortise.torture.run;

import io.mortise.event.LeaseEnd;
import io.mortise.event.LockListener;
import io.mortise.torture.history.EventKind;
import io.mortise.torture.history.HistoryEvent;
import io.mortise.torture.history.HistoryWriter;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts reuses of idle grants, recognized by the next token of the grant. A run without reuses
 * does not test sticky locks. Thread-safe.
 */
final class StickyCounter implements LockListener, AutoCloseable {
  /** Their name in the history. */
  static final String RETAKEN = "retaken";

  private static final int WORTH_A_LINE = 100;

  private final HistoryWriter history;
  private final int process;
  private final Map<String, Long> idle = new ConcurrentHashMap<>();
  private final AtomicLong retaken = new AtomicLong();

  StickyCounter(HistoryWriter history, int process) {
    this.history = history;
    this.process = process;
  }

  @Override
  public void onLeaseEnded(LeaseEnded event) {
    if (event.end() == LeaseEnd.RELEASED && event.reason().startsWith("idle")) {
      event.token().ifPresent(token -> idle.put(event.call().lock(), token));
    }
  }

  @Override
  public void onAcquireEnded(AcquireEnded event) {
    Long before = idle.remove(event.call().lock());
    if (before != null
        && event.token().equals(OptionalLong.of(before + 1))
        && retaken.incrementAndGet() == WORTH_A_LINE) {
      tell();
    }
  }

  private void tell() {
    long count = retaken.getAndSet(0);
    if (count > 0) {
      history.add(
          new HistoryEvent(
              System.nanoTime(),
              EventKind.CYCLES,
              process * HistoryEvent.PROCESS,
              RETAKEN,
              0,
              count,
              0));
    }
  }

  /** Records the remaining count. */
  @Override
  public void close() {
    tell();
  }
}
