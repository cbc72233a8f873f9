package io.mortise.internal.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.LockName;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class OutageLogTest {
  private static final LockName LOCK = LockName.of("n");
  private final Throwable full = new IllegalStateException("maxmemory is reached.");

  private final List<String> lines = new ArrayList<>();
  private long nanos = Long.MAX_VALUE - 5;
  private final OutageLog log = new OutageLog("redis:a", () -> nanos, lines::add, lines::add);

  private void pass(long millis) {
    nanos += TimeUnit.MILLISECONDS.toNanos(millis);
  }

  @Test
  void givenRequestsThatFailForMoreThanASecond_thenOneWarning_andOneAtTheEnd() {
    log.served();
    log.failed(LOCK, full);
    pass(900);
    log.failed(LOCK, full);
    assertThat(lines).as("a moment").isEmpty();
    for (int i = 0; i < 5; i++) {
      pass(1_000);
      log.failed(LOCK, full);
    }
    assertThat(lines)
        .containsExactly(
            "Waits make no progress for 1.9s (lock=n, store=redis:a): maxmemory is reached.");
    log.served();
    log.served();
    assertThat(lines).hasSize(2);
    assertThat(lines.get(1)).isEqualTo("Waits go on after 5.9s (store=redis:a).");
  }

  @Test
  void givenRequestsThatFailForAMoment_thenNothingIsSaid() {
    log.failed(LOCK, full);
    pass(900);
    log.served();
    pass(900);
    log.failed(LOCK, full);
    log.served();
    assertThat(lines).isEmpty();
  }

  @Test
  void givenFailuresAnHourApart_whenNobodyWaitedBetween_thenNothingIsSaid() {
    log.failed(LOCK, full);
    pass(3_600_000);
    log.failed(LOCK, full);
    assertThat(lines).isEmpty();
  }
}
