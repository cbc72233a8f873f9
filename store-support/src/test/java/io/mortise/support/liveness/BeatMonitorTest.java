package io.mortise.support.liveness;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.spi.SessionId;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class BeatMonitorTest {
  private static final Duration TTL = Duration.ofSeconds(10);
  private static final SessionId SESSION = new SessionId("AAAAAAAAAAAA");

  private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 1_000);
  private final BeatMonitor<SessionId> watch = new BeatMonitor<>(now::get);

  private void pass(Duration time) {
    now.addAndGet(time.toNanos());
  }

  @Test
  void givenBeatThatStandsStill_thenItMayBeEndedAfterAWholeTtl_andNotSooner() {
    assertThat(watch.left(SESSION, 7, TTL)).isGreaterThanOrEqualTo(TTL);
    pass(TTL.minusMillis(1));
    assertThat(watch.left(SESSION, 7, TTL)).isPositive();
    assertThat(watch.stoodStill(SESSION)).isFalse();
    pass(Duration.ofMillis(50));
    assertThat(watch.stoodStill(SESSION)).isTrue();
    assertThat(watch.left(SESSION, 7, TTL)).isZero();
  }

  @Test
  void givenBeatThatChanges_thenItsTimeBeginsAnew_alsoIfItGoesBack() {
    watch.left(SESSION, 7, TTL);
    pass(TTL);
    assertThat(watch.left(SESSION, 8, TTL)).isGreaterThanOrEqualTo(TTL);
    pass(TTL.multipliedBy(2));
    assertThat(watch.left(SESSION, 7, TTL)).isGreaterThanOrEqualTo(TTL);
  }

  @Test
  void givenLongSilence_whenLookedAtAgain_thenTheWholeTimeCounts() {
    watch.left(SESSION, 7, TTL);
    pass(Duration.ofHours(5));
    assertThat(watch.left(SESSION, 7, TTL)).isZero();
    watch.forget(SESSION);
    assertThat(watch.left(SESSION, 7, TTL)).isGreaterThanOrEqualTo(TTL);
  }

  @Test
  void givenManySessions_thenThoseLookedAtLastAreRemembered() {
    watch.left(SESSION, 7, TTL);
    for (int i = 0; i < 5_000; i++) {
      watch.left(new SessionId(String.format("B%011d", i)), 1, TTL);
    }
    pass(TTL.multipliedBy(2));
    assertThat(watch.left(SESSION, 7, TTL)).as("forgotten, so watched anew").isPositive();
    assertThat(watch.left(new SessionId("B00000004999"), 1, TTL)).isZero();
  }

  @Test
  void givenMonitorOfRounds_thenSessionsAreForgottenThatAWholeRoundHasNotMet() {
    BeatMonitor<SessionId> rounds = BeatMonitor.ofRounds(now::get);
    SessionId gone = new SessionId("CCCCCCCCCCCC");
    for (int round = 0; round < 2; round++) {
      rounds.left(SESSION, 7, TTL);
      if (round == 0) {
        rounds.left(gone, 7, TTL);
      }
      for (int i = 0; i < 5_000; i++) {
        rounds.left(new SessionId(String.format("B%011d", i)), 1, TTL);
      }
      assertThat(rounds.leftIfSeen(gone, 7)).isNotNull();
      rounds.endRound();
    }
    pass(TTL.multipliedBy(2));
    assertThat(rounds.leftIfSeen(gone, 7)).isNull();
    assertThat(rounds.leftIfSeen(SESSION, 8)).as("another beat").isNull();
    assertThat(rounds.leftIfSeen(SESSION, 7)).isZero();
    assertThat(rounds.left(SESSION, 7, TTL)).isZero();
  }
}
