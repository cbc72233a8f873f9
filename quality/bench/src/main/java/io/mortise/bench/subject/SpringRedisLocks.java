package io.mortise.bench.subject;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;

/** Spring Integration's RedisLockRegistry with its defaults, waiting by publish and subscribe. */
final class SpringRedisLocks implements Subject {
  private static final long LEASE_MILLIS = 30_000;

  private final LettuceConnectionFactory connections;
  private final RedisLockRegistry registry;

  SpringRedisLocks(StoreUrls storeUrls) {
    connections = connections(storeUrls);
    registry = new RedisLockRegistry(connections, "bench-spring", LEASE_MILLIS);
    registry.setRedisLockType(RedisLockRegistry.RedisLockType.PUB_SUB_LOCK);
  }

  static LettuceConnectionFactory connections(StoreUrls storeUrls) {
    LettuceConnectionFactory factory =
        new LettuceConnectionFactory(
            new RedisStandaloneConfiguration(storeUrls.redisHost(), storeUrls.redisPort()));
    factory.afterPropertiesSet();
    factory.start();
    return factory;
  }

  @Override
  public LockHandle lockHandle(String lock) {
    return InProcessLock.lockHandle(registry.obtain(lock));
  }

  @Override
  public void close() {
    registry.destroy();
    connections.destroy();
  }
}
