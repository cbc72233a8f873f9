package io.mortise.testkit;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Measures pauses of this process, for any reason: a thread repeatedly sleeps for a moment and sums
 * up the oversleep. Reported delays of stores count as well. Thread-safe.
 */
public final class PauseDetector {
  private static final long TICK = TimeUnit.MILLISECONDS.toNanos(20);

  /** Delays up to this are those of a busy machine, not pauses. */
  private static final long LATE = TimeUnit.MILLISECONDS.toNanos(20);

  /** The longest usual answer of a store that writes to a disk. */
  private static final long SLOW = TimeUnit.MILLISECONDS.toNanos(100);

  private static final AtomicLong LOST = new AtomicLong();

  static {
    Thread clock = new Thread(PauseDetector::count, "mortise-pauses");
    clock.setDaemon(true);
    clock.start();
  }

  private static volatile int stretch = 1;

  private PauseDetector() {}

  /**
   * Returns the time, or a longer one while a test is rerun after a pause ({@link RerunIfPaused}),
   * so that a slow machine keeps it. For tests of short times that a store measures.
   */
  public static Duration stretched(Duration time) {
    return time.multipliedBy(stretch);
  }

  /** Stretches times by this factor from now on. */
  static void stretch(int factor) {
    stretch = factor;
  }

  private static void count() {
    long last = System.nanoTime();
    while (!Thread.currentThread().isInterrupted()) {
      BoundedWait.pass(Duration.ofNanos(TICK));
      long now = System.nanoTime();
      add(now - last - TICK, LATE);
      last = now;
    }
  }

  private static void add(long nanos, long usual) {
    if (nanos > usual) {
      LOST.addAndGet(nanos);
    }
  }

  /** Reports the time of an answer that was due at once. */
  static void answered(long nanos) {
    add(nanos, SLOW);
  }

  /** All pauses so far, in nanoseconds. */
  public static long lostNanos() {
    return LOST.get();
  }
}
