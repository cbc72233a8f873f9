package io.mortise.support.internal.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.spi.AttemptId;
import io.mortise.spi.SessionId;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class AtLeastMonitorTest {
  private static final Duration LEAST = Duration.ofSeconds(10);
  private static final AttemptId HOLD = new AttemptId(new SessionId("AAAAAAAAAAAA"), 1);

  private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 1_000);
  private final AtLeastMonitor monitor = new AtLeastMonitor(now::get);

  /** A process that has written the first start may meet it in its memory at each poll. */
  @Test
  void givenRestartedTime_whenItsFirstStartIsMetAgain_thenTheCountGoesOn() {
    monitor.left(HOLD, 1, LEAST);
    assertThat(monitor.left(HOLD, 2, LEAST)).isGreaterThanOrEqualTo(LEAST);
    now.addAndGet(LEAST.toNanos() / 2);
    assertThat(monitor.left(HOLD, 1, LEAST)).isLessThan(LEAST);
    now.addAndGet(LEAST.toNanos());
    assertThat(monitor.left(HOLD, 2, LEAST)).isZero();
    assertThat(monitor.left(HOLD, 3, LEAST)).isGreaterThanOrEqualTo(LEAST);
  }
}
