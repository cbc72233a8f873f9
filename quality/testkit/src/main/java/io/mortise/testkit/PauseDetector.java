package io.mortise.testkit;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * How long this process has stood still, for any reason: a thread sleeps for a moment again and
 * again, and counts what it slept too long. Stores that let somebody wait count as well, as far as
 * they are reported. Thread-safe.
 */
public final class PauseDetector {
  private static final long TICK = TimeUnit.MILLISECONDS.toNanos(20);

  /** Up to this much a machine with other work to do is late without having paused. */
  private static final long LATE = TimeUnit.MILLISECONDS.toNanos(20);

  /** A store that writes to a disk may take so long for an answer. */
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
   * The time, or a longer one while a test is run again after a pause ({@link RerunIfPaused}): a
   * slow machine keeps it then. For tests of short times that a store keeps.
   */
  public static Duration stretched(Duration time) {
    return time.multipliedBy(stretch);
  }

  /** Times are stretched by so much from now on. */
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

  /** A store took so long for an answer that was due at once. */
  static void answered(long nanos) {
    add(nanos, SLOW);
  }

  /** All pauses so far, in nanoseconds. */
  public static long lostNanos() {
    return LOST.get();
  }
}
