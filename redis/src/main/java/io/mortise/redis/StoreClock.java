package io.mortise.redis;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * The server's clock as seen from here, so that a request can carry the moment after which it must
 * not be executed any more. Errs on the early side, by at most the round trip of the last sample.
 */
final class StoreClock {
  private final long timeoutMicros;
  private volatile Sample sample;

  private record Sample(long nanos, long storeMicros) {}

  StoreClock(Duration timeout, long receivedNanos, long storeMicros) {
    this.timeoutMicros = TimeUnit.NANOSECONDS.toMicros(timeout.toNanos());
    this.sample = new Sample(receivedNanos, storeMicros);
  }

  /**
   * Takes in what the server's clock said some time between the two moments. A slow answer tells
   * little, so it is passed over unless the clock was found to have jumped.
   */
  void learn(long sentNanos, long receivedNanos, long storeMicros) {
    long trip = TimeUnit.NANOSECONDS.toMicros(receivedNanos - sentNanos);
    boolean jumped =
        storeMicros < at(sentNanos) - timeoutMicros
            || storeMicros > at(receivedNanos) + timeoutMicros;
    if (trip <= timeoutMicros / 4 || jumped) {
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
