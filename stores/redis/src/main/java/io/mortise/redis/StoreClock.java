package io.mortise.redis;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * The server's clock as seen from here, so that a request can carry the time after which it must
 * not run.
 *
 * <p>The server read its clock between the sending of the request and the arrival of the answer. It
 * is taken to have read it on arrival. So the clock seen from here is behind by a round trip at
 * most, and requests are refused early rather than executed late.
 */
final class StoreClock {
  /** A clock that drifts by 100 ppm is then off by 6 ms. */
  private static final long OLD_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final long timeoutMicros;
  private volatile Sample sample;

  private record Sample(long nanos, long storeMicros) {}

  StoreClock(Duration timeout, long receivedNanos, long storeMicros) {
    this.timeoutMicros = TimeUnit.NANOSECONDS.toMicros(timeout.toNanos());
    this.sample = new Sample(receivedNanos, storeMicros);
  }

  /**
   * Takes in a reading of the server's clock, made between the two moments. A slow answer is passed
   * over, as it tells little, with two exceptions. The estimate may be old. Or the reading may
   * contradict it, as after a step: the clock is ahead even if the answer took no time, or behind
   * even if the request took none.
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

  /** The server time after which a request submitted then is too old to be executed. */
  long deadline(long submittedNanos) {
    return at(submittedNanos) + timeoutMicros;
  }

  private long at(long nanos) {
    Sample known = sample;
    return known.storeMicros + TimeUnit.NANOSECONDS.toMicros(nanos - known.nanos);
  }
}
