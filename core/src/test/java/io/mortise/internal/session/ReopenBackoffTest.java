package io.mortise.internal.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.internal.runtime.EngineEnv;
import io.mortise.internal.runtime.EngineRules;
import io.mortise.spi.ClientLabel;
import java.time.Duration;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class ReopenBackoffTest {
  private static final long SECOND = 1_000_000_000;

  private long now;
  private final ReopenBackoff backoff =
      new ReopenBackoff(
          new EngineEnv(
              () -> now,
              (delay, task) -> () -> {},
              (delay, task) -> () -> {},
              Runnable::run,
              () -> 0,
              new Random(1),
              EngineRules.ALL,
              Duration.ofSeconds(15),
              new ClientLabel("", 0, "")),
          "toy");

  private long pauseAfterLoss() {
    backoff.opened();
    backoff.lost("of the test");
    return backoff.nanos();
  }

  @Test
  void givenSessionsThatAreLostAtOnce_thenPausesGrowToASecond_andTheReasonIsTold() {
    assertThat(pauseAfterLoss()).as("the first is an accident").isZero();
    assertThat(backoff.loss()).isNull();
    long[] pauses = LongStream.generate(this::pauseAfterLoss).limit(5).toArray();
    assertThat(pauses).isSorted().doesNotContain(0);
    pauseAfterLoss();
    assertThat(pauseAfterLoss()).isBetween(SECOND / 10 * 9, SECOND);
    assertThat(backoff.loss())
        .hasMessage("8 sessions in a row were lost as soon as they were open: of the test");
  }

  @Test
  void givenLossesInARow_whenASessionLasts_thenTheNextIsOpenedAtOnce() {
    pauseAfterLoss();
    assertThat(pauseAfterLoss()).isPositive();
    backoff.opened();
    now += SECOND;
    backoff.lost("of the test");
    assertThat(backoff.nanos()).isZero();
    assertThat(backoff.loss()).isNull();
  }
}
