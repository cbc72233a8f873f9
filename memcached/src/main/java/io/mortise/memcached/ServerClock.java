package io.mortise.memcached;

import java.util.concurrent.TimeUnit;

/**
 * Tells whether a server's clock is behind. memcached measures expiry by a clock of whole seconds
 * that one of its threads sets. When its process has stood still, the other threads may execute
 * requests before that one has caught up: an item that is written then expires by so much too
 * early, perhaps at once.
 *
 * <p>The clock is read by an item of ours with a known end: what is left of its time. That, plus
 * our own time, stays the same within the server's whole second, and one that it now and then
 * skips; it is greater when the server's clock is behind. The least that was seen is the measure.
 * Not thread-safe.
 */
final class ServerClock {
  /** A whole second, and one that is skipped. */
  static final long TOLERANCE_NANOS = TimeUnit.SECONDS.toNanos(2);

  /** Clocks of two machines do not differ more in rate, so the measure may rise by that. */
  private static final long DRIFT = 1_000;

  private final long item;
  private long least;
  private long measuredAt;

  /**
   * Begins with a clock that is taken for right.
   *
   * @param item the CAS value of the item, by which another one in its place is recognised
   * @param left seconds that the server says are left of the item's time
   * @param now our own time, when the answer was there
   */
  ServerClock(long item, long left, long now) {
    this.item = item;
    this.least = sum(left, now);
    this.measuredAt = now;
  }

  private static long sum(long left, long now) {
    return now + TimeUnit.SECONDS.toNanos(left);
  }

  long item() {
    return item;
  }

  /** Whether the item has ended by itself, or does in a moment. */
  boolean hasEnded(long now) {
    return least - now < TOLERANCE_NANOS;
  }

  /** Whether the clock was behind when the server answered that. */
  boolean isBehind(long left, long now) {
    long sum = sum(left, now);
    long measure = least + (now - measuredAt) / DRIFT;
    least = sum - measure < 0 ? sum : measure;
    measuredAt = now;
    return sum - least > TOLERANCE_NANOS;
  }
}
