package io.mortise.shedlock;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.LockClient;
import io.mortise.StoreUnavailableException;
import io.mortise.testkit.TestPrerequisites;
import io.mortise.testkit.server.RedisServer;
import java.time.Duration;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.junit.jupiter.api.Test;

class StoreOutageTest {
  private static final Duration MINUTE = Duration.ofMinutes(1);

  @Test
  void givenServerThatIsGone_whenLocked_thenThatIsNoContention_andUnlockThrowsNothing() {
    try (RedisServer server =
            RedisServer.start(
                TestPrerequisites.required(RedisServer.bundled(), "The Redis server"));
        LockClient client =
            LockClient.builder()
                .url(server.url() + "?timeout=1s")
                .ttl(Duration.ofSeconds(3))
                .build()) {
      MortiseLockProvider provider = MortiseLockProvider.over(client);
      SimpleLock held = provider.lock(times("held")).orElseThrow();
      server.kill();
      assertThatThrownBy(() -> provider.lock(times("other")))
          .isInstanceOf(StoreUnavailableException.class);
      assertThatThrownBy(() -> held.extend(MINUTE, Duration.ZERO))
          .isInstanceOf(StoreUnavailableException.class);
      held.unlock();
    }
  }

  private static LockConfiguration times(String name) {
    return new LockConfiguration(ClockProvider.now(), name, MINUTE, Duration.ZERO);
  }
}
