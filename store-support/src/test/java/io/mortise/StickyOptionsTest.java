package io.mortise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Options that exclude a sticky lock are refused by name. */
class StickyOptionsTest {
  private static final LockOptions STICKY = LockOptions.DEFAULTS.withSticky(Duration.ofSeconds(3));

  private static void refuses(String said, Runnable step) {
    assertThatThrownBy(step::run)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(said);
  }

  @Test
  void givenSticky_whenItIsFairOrTimed_thenItIsRefused_inEitherOrder() {
    refuses("fair", () -> STICKY.withFair(true));
    refuses("at least, at most", () -> STICKY.withAtMost(Duration.ofSeconds(1)));
    refuses("at least, at most", () -> STICKY.withAtLeast(Duration.ofSeconds(1)));
    refuses("fair", () -> LockOptions.DEFAULTS.withFair(true).withSticky(Duration.ofSeconds(1)));
    assertThat(STICKY.withReleaseAsync(true).sticky()).isEqualTo(Duration.ofSeconds(3));
  }

  @Test
  void givenTimesOutsideOfTheLimits_thenTheyAreRefused() {
    refuses("1 ms and 10 s", () -> LockOptions.DEFAULTS.withSticky(Duration.ZERO));
    refuses("1 ms and 10 s", () -> LockOptions.DEFAULTS.withSticky(Duration.ofMillis(10_001)));
    assertThat(STICKY.withSticky(null)).isEqualTo(LockOptions.DEFAULTS);
  }

  @Test
  void givenReadersAndPermits_whenTheyAreToBeSticky_thenTheyAreRefused() {
    try (LockClient client = LockClient.connect("mem:sticky-options")) {
      refuses("exclusive", () -> client.readWriteLock("a").readLock().with(STICKY));
      refuses("exclusive", () -> client.semaphore("b", 3).permits(1).with(STICKY));
      assertThat(client.readWriteLock("a").writeLock().with(STICKY)).isNotNull();
    }
    refuses("10", () -> LockClient.builder().maxIdleLocks(0));
  }
}
