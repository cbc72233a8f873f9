package io.mortise.internal.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.internal.runtime.EngineEnv;
import io.mortise.internal.runtime.EngineRules;
import io.mortise.internal.runtime.EngineScheduler;
import io.mortise.internal.session.StoreOutage.EndedOutage;
import io.mortise.spi.ClientLabel;
import java.net.ConnectException;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;

class StoreSilenceTest {
  private static final long SECOND = 1_000_000_000L;

  private final EngineScheduler never = (delay, task) -> () -> {};
  private final StoreSilence silence = new StoreSilence();
  private final Exception failure = new ConnectException("Connection refused");
  private long now = 1_000 * SECOND;
  private final EngineEnv env =
      new EngineEnv(
          () -> now,
          never,
          never,
          Runnable::run,
          () -> 0,
          new Random(1),
          EngineRules.ALL,
          Duration.ofSeconds(10),
          new ClientLabel("host", 1, ""));

  @Test
  void givenOutageThatHasEnded_whenARenewalOfItFailsLate_thenTheOutageIsStillTold() {
    long begin = now;
    silence.sent(begin);
    silence.failed(failure, begin);
    now += 8 * SECOND;
    silence.heard(env);
    now += SECOND;
    silence.sent(now);
    silence.failed(failure, begin);
    now += SECOND;
    silence.heard(env);
    assertThat(silence.last()).isEqualTo(new EndedOutage(begin | 1, begin + 8 * SECOND, failure));
  }

  @Test
  void givenSilenceWithoutAFailedRenewal_thenNoOutageIsTold() {
    silence.sent(now);
    now += SECOND;
    assertThat(silence.nanos(now)).isBetween(SECOND - 1, SECOND);
    silence.heard(env);
    assertThat(silence.nanos(now)).isZero();
    assertThat(silence.since(now)).isNull();
    assertThat(silence.last()).isNull();
  }
}
