package io.mortise.internal.engine.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.LockName;
import io.mortise.internal.runtime.EngineEnv;
import io.mortise.internal.runtime.EngineRules;
import io.mortise.internal.runtime.EngineScheduler;
import io.mortise.spi.ClientLabel;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Pauses on a clock that the test moves. */
class ReacquirePausesTest {
  private static final long MILLI = 1_000_000;
  private static final LockName LOCK = LockName.of("x");

  private final ReacquirePauses pauses = new ReacquirePauses();
  private long now = 5_000 * MILLI;

  private final EngineScheduler noTimers = (delay, task) -> () -> {};

  private final EngineEnv env =
      new EngineEnv(
          () -> now,
          noTimers,
          noTimers,
          Runnable::run,
          () -> 0,
          new Random(7),
          EngineRules.ALL,
          Duration.ofSeconds(10),
          new ClientLabel("-", 1, "test"));

  /** Simulates a hold of this length, wanted from its begin; returns the pause after it. */
  private long pauseAfterHold(LockName name, long holdNanos) {
    long wantedSince = now;
    now += holdNanos;
    pauses.gaveBack(name, wantedSince, env);
    return pauses.left(name, now);
  }

  /** The pause after a hold that no other process was seen to want. */
  private long pauseAfterUnnotedHold(long holdNanos) {
    now += Math.max(0, pauses.left(LOCK, now)) + holdNanos;
    pauses.gaveBack(LOCK, null, env);
    return pauses.left(LOCK, now);
  }

  @Test
  void givenHoldThatNobodyWanted_thenThereIsNoPause() {
    assertThat(pauses.left(LOCK, now)).isNotPositive();
    assertThat(pauseAfterUnnotedHold(20 * MILLI)).isNotPositive();
  }

  @Test
  void givenHoldThatOthersWanted_thenThePauseIsHalfAsLong_forThatLock() {
    assertThat(pauseAfterHold(LOCK, 40 * MILLI)).isBetween(18 * MILLI, 20 * MILLI);
    assertThat(pauses.left(LockName.of("other"), now)).isNotPositive();
    now += 20 * MILLI;
    assertThat(pauses.left(LOCK, now)).isNotPositive();
  }

  @Test
  void givenVeryShortHold_thenThePauseIsAFewRoundTrips() {
    assertThat(pauseAfterHold(LOCK, 10_000)).isBetween(1_800_000L, 2 * MILLI);
  }

  @Test
  void givenVeryLongHold_thenThePauseIsAsLongAsBetweenTwoRetries() {
    assertThat(pauseAfterHold(LOCK, 60_000 * MILLI)).isBetween(450 * MILLI, 500 * MILLI);
  }

  @Test
  void givenHoldsAfterOneThatWasWanted_thenEachIsFollowedByAPause_untilASecondIsOver() {
    pauseAfterHold(LOCK, 40 * MILLI);
    long begun = now;
    int paused = 0;
    while (pauseAfterUnnotedHold(40 * MILLI) > 0) {
      assertThat(pauses.left(LOCK, now)).isBetween(18 * MILLI, 20 * MILLI);
      paused++;
    }
    assertThat(paused).isGreaterThan(10);
    assertThat(now - begun).isBetween(1_000 * MILLI, 1_070 * MILLI);
    assertThat(pauseAfterUnnotedHold(40 * MILLI)).isNotPositive();
  }

  @Test
  void givenAnotherHolderSeen_thenThePauseEnds_andItBeginsAnew() {
    pauseAfterHold(LOCK, 200 * MILLI);
    pauses.end(LOCK);
    assertThat(pauses.left(LOCK, now)).isNotPositive();
    assertThat(pauseAfterUnnotedHold(20 * MILLI)).isNotPositive();
  }

  @Test
  void givenManyLocks_thenTheOldestIsForgotten() {
    pauseAfterHold(LOCK, 200 * MILLI);
    for (int i = 0; i < 100; i++) {
      pauses.gaveBack(LockName.of("other-" + i), now, env);
    }
    assertThat(pauses.left(LOCK, now)).isNotPositive();
    assertThat(pauses.left(LockName.of("other-99"), now)).isPositive();
  }
}
