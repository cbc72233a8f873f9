package io.mortise.memcached;

import java.util.concurrent.TimeUnit;

/**
 * Tells whether a server's clock is behind. memcached measures expiry by a clock of whole seconds
 * that one of its threads sets. When its process has stood still, the other threads may execute
 * requests before that one has caught up: an item that is written then expires by so much too
 * early, perhaps at once.
 *
 * <p>An item of ours with a known end shows the clock: the server tells how much time it has left.
 * That time plus our own time is constant, but for the server's whole second and the second that it
 * skips now and then. The sum is greater when the server's clock is behind. The least sum seen so
 * far is the measure. Thread-safe.
 */
final class ServerClock {
  /** A whole second, and one that is skipped. */
  static final long TOLERANCE_NANOS = TimeUnit.SECONDS.toNanos(2);

  /** Clocks of two machines do not differ more in rate, so the measure may rise by that. */
  private static final long DRIFT = 1_000;

  private final String item;
  private long least;
  private long measuredAt;

  /**
   * Begins with a clock that is taken for right. It may be up to two seconds late by itself. The
   * measure is not greater than that, however long the answer took.
   *
   * @param item the item's text, by which another one in its place is recognised
   * @param left seconds that the server says are left of the item's time
   * @param sent our own time, when that was asked for
   */
  ServerClock(String item, long left, long sent) {
    this.item = item;
    this.least = sum(left, sent);
    this.measuredAt = sent;
  }

  private static long sum(long left, long now) {
    return now + TimeUnit.SECONDS.toNanos(left);
  }

  String item() {
    return item;
  }

  /** Whether the item has ended by itself, or does in a moment. */
  synchronized boolean hasEnded(long now) {
    return least - now < TOLERANCE_NANOS;
  }

  /** Whether the clock was behind when the server answered that. */
  synchronized boolean isBehind(long left, long now) {
    long sum = sum(left, now);
    long measure = least + (now - measuredAt) / DRIFT;
    least = sum - measure < 0 ? sum : measure;
    measuredAt = now;
    return sum - least > TOLERANCE_NANOS;
  }
}
