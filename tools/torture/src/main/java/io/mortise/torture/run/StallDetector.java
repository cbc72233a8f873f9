package io.mortise.torture.run;

import io.mortise.torture.history.EventKind;
import io.mortise.torture.history.HistoryEvent;
import io.mortise.torture.history.HistoryWriter;
import java.time.Duration;

/**
 * Records when the host did not run this process for a while, be it by overload or by a fault:
 * deadlines cannot be met meanwhile.
 */
final class StallDetector implements AutoCloseable {
  private static final long LOOK_MILLIS = 20;

  private final Thread thread;

  /**
   * @param process number of this process; 0 for the run itself
   */
  StallDetector(HistoryWriter history, int process, Duration shortest) {
    thread = new Thread(() -> watch(history, process, shortest.toNanos()), "stall-watch");
    thread.setDaemon(true);
  }

  /** Starts the detection, until it is closed. */
  void begin() {
    thread.start();
  }

  private static void watch(HistoryWriter history, int process, long shortest) {
    long last = System.nanoTime();
    while (true) {
      try {
        Thread.sleep(LOOK_MILLIS);
      } catch (InterruptedException e) {
        return;
      }
      long now = System.nanoTime();
      long late = now - last - LOOK_MILLIS * 1_000_000;
      last = now;
      if (late > shortest) {
        history.add(
            new HistoryEvent(
                now, EventKind.STALLED, process * HistoryEvent.PROCESS, "-", 0, late, 0));
      }
    }
  }

  @Override
  public void close() {
    thread.interrupt();
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
