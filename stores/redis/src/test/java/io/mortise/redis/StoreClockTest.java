package io.mortise.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A server 60 ms away, and requests with a timeout of 200 ms. All times in milliseconds. */
class StoreClockTest {
  private static final long START = 1_000_000;
  private static final long WAY = 30;

  private final StoreClock clock =
      new StoreClock(Duration.ofMillis(200), nanos(2 * WAY), micros(START + WAY));

  private static long nanos(long millis) {
    return TimeUnit.MILLISECONDS.toNanos(millis);
  }

  private static long micros(long millis) {
    return TimeUnit.MILLISECONDS.toMicros(millis);
  }

  /** The server's clock, off by that much, when a request sent then arrives. */
  private static long atServer(long sent, long off) {
    return micros(START + sent + WAY + off);
  }

  private boolean isInTime(long sent, long off) {
    return atServer(sent, off) <= clock.deadline(nanos(sent));
  }

  private void ask(long sent, long off) {
    clock.learn(nanos(sent), nanos(sent + 2 * WAY), atServer(sent, off));
  }

  @Test
  void givenEachAnswerIsSlow_whenTheServersClockStepsAhead_thenOneRequestIsTooLate_andNoMore() {
    assertThat(isInTime(1_000, 0)).isTrue();
    assertThat(isInTime(2_000, 150)).isFalse();
    ask(2_000, 150);
    assertThat(isInTime(3_000, 150)).isTrue();
  }

  @Test
  void givenEachAnswerIsSlow_whenTheServersClockStepsBack_thenNothingIsExecutedLate() {
    ask(1_000, -150);
    long sent = 2_000;
    assertThat(isInTime(sent, -150)).isTrue();
    assertThat(clock.deadline(nanos(sent))).isLessThanOrEqualTo(micros(START + sent - 150 + 200));
  }

  @Test
  void givenEachAnswerIsSlow_whenTheServersClockDrifts_thenItIsFollowed_andNothingIsExecutedLate() {
    for (int drift : new int[] {200, -200}) {
      long base = drift > 0 ? 0 : 3_600_000;
      for (long second = 1; second <= 3_600; second++) {
        long sent = base + second * 1_000;
        // Drift in millionths: within the hour three and a half timeouts.
        long off = (drift > 0 ? second : 3_600 - second) * Math.abs(drift) / 1_000;
        assertThat(isInTime(sent, off)).as("after %d s at %d ppm", second, drift).isTrue();
        assertThat(clock.deadline(nanos(sent)))
            .as("after %d s at %d ppm", second, drift)
            .isLessThanOrEqualTo(micros(START + sent + off + 200 + 2 * WAY));
        ask(sent, off);
      }
    }
  }

  @Test
  void givenAnAnswerThatTookTooLong_thenTheClockIsNotSeenBehind() {
    clock.learn(nanos(1_000), nanos(1_190), atServer(1_000, 0));
    assertThat(isInTime(2_000, 0)).isTrue();
    assertThat(clock.deadline(nanos(2_000))).isGreaterThan(micros(START + 2_000 + 100));
  }
}
