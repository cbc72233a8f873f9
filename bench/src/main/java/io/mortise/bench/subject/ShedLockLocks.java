package io.mortise.bench.subject;

import java.time.Duration;
import java.time.Instant;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** ShedLock's Redis provider, used directly. It tries once and never waits, by design. */
final class ShedLockLocks implements Subject {
  private static final Duration LEASE = Duration.ofSeconds(30);

  private final LettuceConnectionFactory connections;
  private final LockProvider provider;

  ShedLockLocks(Stores stores) {
    connections = SpringLocks.connections(stores);
    provider = new RedisLockProvider(connections, "bench");
  }

  @Override
  public Grip grip(String name) {
    return new Grip() {
      private @Nullable SimpleLock held;

      @Override
      public boolean take(long waitMillis) {
        held =
            provider
                .lock(new LockConfiguration(Instant.now(), name, LEASE, Duration.ZERO))
                .orElse(null);
        return held != null;
      }

      @Override
      public void give() {
        SimpleLock lock = held;
        if (lock != null) {
          lock.unlock();
        }
      }
    };
  }

  @Override
  public void close() {
    connections.destroy();
  }
}
