package io.mortise.shedlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.LockClient;
import io.mortise.StoreUnavailableException;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.TestPrerequisites;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testkit.server.FaultInjectionProxy.NetworkCondition;
import io.mortise.testserver.RedisServer;
import java.lang.reflect.Constructor;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.support.KeepAliveLockProvider;
import org.junit.jupiter.api.Test;

class StoreOutageTest {
  private static final Duration MINUTE = Duration.ofMinutes(1);

  @Test
  void givenServerThatIsGone_whenLocked_thenThatIsNoContention_andUnlockThrowsNothing() {
    try (RedisServer server =
            RedisServer.start(
                TestPrerequisites.required(RedisServer.bundled(), "The Redis server"));
        LockClient client = LockClient.connect(server.url() + "?timeout=3s")) {
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

  /** Extends on demand, not by time. */
  private static final class ManualExecutor extends ScheduledThreadPoolExecutor {
    private Runnable extension;

    ManualExecutor() {
      super(1);
    }

    @Override
    public ScheduledFuture<?> scheduleAtFixedRate(
        Runnable command, long initialDelay, long period, TimeUnit unit) {
      extension = command;
      return schedule(() -> {}, 1, TimeUnit.DAYS);
    }
  }

  @Test
  void givenKeepAliveProviderAroundIt_whenAnExtensionIsNotAnswered_thenTheLockIsKeptAllTheSame()
      throws Exception {
    Duration atMost = Duration.ofSeconds(2);
    ManualExecutor executor = new ManualExecutor();
    try (RedisServer server =
            RedisServer.start(
                TestPrerequisites.required(RedisServer.bundled(), "The Redis server"));
        FaultInjectionProxy proxy = FaultInjectionProxy.to(server.port());
        LockClient client = LockClient.connect("redis://127.0.0.1:" + proxy.port());
        LockClient other = LockClient.connect(server.url())) {
      // Its own constructor demands half a minute.
      Constructor<KeepAliveLockProvider> constructor =
          KeepAliveLockProvider.class.getDeclaredConstructor(
              ExtensibleLockProvider.class, ScheduledExecutorService.class, Duration.class);
      constructor.setAccessible(true);
      LockProvider provider =
          constructor.newInstance(
              MortiseLockProvider.over(client).withoutAtMost(), executor, atMost);
      SimpleLock held =
          provider
              .lock(new LockConfiguration(ClockProvider.now(), "held", atMost, Duration.ZERO))
              .orElseThrow();
      proxy.condition(NetworkCondition.FROZEN);
      executor.extension.run(); // Sends the store nothing, so that nothing can stop it.
      proxy.condition(NetworkCondition.FAIR);
      assertThat(other.lock("held").tryAcquire(atMost.multipliedBy(2))).isEmpty();
      held.unlock();
      assertThat(other.lock("held").tryAcquire(BoundedWait.ANSWER)).isPresent();
    } finally {
      executor.shutdownNow();
    }
  }

  @Test
  void givenMockAsTheClient_thenTheRefusalSaysWhatTestsUse() {
    LockClient mock =
        (LockClient)
            Proxy.newProxyInstance(
                LockClient.class.getClassLoader(),
                new Class<?>[] {LockClient.class},
                (proxy, method, arguments) -> null);
    assertThatThrownBy(() -> MortiseLockProvider.over(mock))
        .hasMessageContaining("is a mock")
        .hasMessageContaining("@MemoryLocks");
  }

  private static LockConfiguration times(String name) {
    return new LockConfiguration(ClockProvider.now(), name, MINUTE, Duration.ZERO);
  }
}
