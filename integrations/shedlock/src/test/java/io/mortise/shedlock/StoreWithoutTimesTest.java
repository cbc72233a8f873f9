package io.mortise.shedlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.LockClient;
import io.mortise.UnsupportedByStoreException;
import io.mortise.testserver.TestStore;
import java.time.Duration;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.junit.jupiter.api.Test;

/** Plain Redis keys have no at-least times. The client keeps at-most times itself. */
class StoreWithoutTimesTest {
  private static final Duration MINUTE = Duration.ofMinutes(1);

  @Test
  void givenStoreWithoutTimes_thenAtMostIsKept_andAtLeastIsRefusedByName() {
    String url =
        TestStore.REDIS
            .newUrl()
            .replace("redis://", "redis-plain://")
            .replace("namespace=", "prefix=");
    try (LockClient client = LockClient.connect(url)) {
      MortiseLockProvider provider = MortiseLockProvider.over(client);
      SimpleLock lock = provider.lock(times(Duration.ZERO)).orElseThrow();
      assertThat(provider.lock(times(Duration.ZERO))).isEmpty();
      SimpleLock extended = lock.extend(MINUTE, Duration.ZERO).orElseThrow();
      assertThatThrownBy(() -> extended.extend(MINUTE, MINUTE))
          .isInstanceOf(UnsupportedByStoreException.class);
      extended.unlock();
      assertThatThrownBy(() -> provider.lock(times(MINUTE)))
          .isInstanceOf(UnsupportedByStoreException.class);
      provider.lock(times(Duration.ZERO)).orElseThrow().unlock();
    }
  }

  private static LockConfiguration times(Duration atLeast) {
    return new LockConfiguration(ClockProvider.now(), "report", MINUTE, atLeast);
  }
}
