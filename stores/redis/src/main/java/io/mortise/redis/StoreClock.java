package io.mortise.redis;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * The server's clock as seen from here, so that a request can carry the moment after which it must
 * not be executed any more.
 *
 * <p>What the clock said, it said between the sending of the question and the coming of the answer.
 * It is taken to have said it when the answer came: so the clock seen from here is behind, by a
 * round trip at most, and requests are refused early rather than executed late.
 */
final class StoreClock {
  /** A clock that drifts by 100 ppm is off by 6 ms then. */
  private static final long OLD_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final long timeoutMicros;
  private volatile Sample sample;

  private record Sample(long nanos, long storeMicros) {}

  StoreClock(Duration timeout, long receivedNanos, long storeMicros) {
    this.timeoutMicros = TimeUnit.NANOSECONDS.toMicros(timeout.toNanos());
    this.sample = new Sample(receivedNanos, storeMicros);
  }

  /**
   * Takes in what the server's clock said some time between the two moments. A slow answer tells
   * little, so it is passed over, unless it tells more than what is known: that the clock is ahead
   * of where it is seen even if the answer took no time, or behind it even if the question took
   * none, as after a step; or unless what is known is old.
   */
  void learn(long sentNanos, long receivedNanos, long storeMicros) {
    long trip = TimeUnit.NANOSECONDS.toMicros(receivedNanos - sentNanos);
    boolean quick = trip <= timeoutMicros / 4;
    boolean wrong = storeMicros > at(receivedNanos) || storeMicros < at(sentNanos);
    boolean old = receivedNanos - sample.nanos() > OLD_NANOS && trip <= timeoutMicros;
    if (quick || wrong || old) {
      sample = new Sample(receivedNanos, storeMicros);
    }
  }

  /** What the server's clock shows when a request submitted then is too old to be executed. */
  long deadline(long submittedNanos) {
    return at(submittedNanos) + timeoutMicros;
  }

  private long at(long nanos) {
    Sample known = sample;
    return known.storeMicros + TimeUnit.NANOSECONDS.toMicros(nanos - known.nanos);
  }
}
