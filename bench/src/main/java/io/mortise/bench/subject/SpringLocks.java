package io.mortise.bench.subject;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;

/** Spring Integration's RedisLockRegistry as it comes, told to wait by publish and subscribe. */
final class SpringLocks implements Subject {
  private static final long LEASE_MILLIS = 30_000;

  private final LettuceConnectionFactory connections;
  private final RedisLockRegistry registry;

  SpringLocks(Stores stores) {
    connections = connections(stores);
    registry = new RedisLockRegistry(connections, "bench-spring", LEASE_MILLIS);
    registry.setRedisLockType(RedisLockRegistry.RedisLockType.PUB_SUB_LOCK);
  }

  static LettuceConnectionFactory connections(Stores stores) {
    LettuceConnectionFactory factory =
        new LettuceConnectionFactory(
            new RedisStandaloneConfiguration(stores.redisHost(), stores.redisPort()));
    factory.afterPropertiesSet();
    factory.start();
    return factory;
  }

  @Override
  public Grip grip(String lock) {
    return InProcess.grip(registry.obtain(lock));
  }

  @Override
  public void close() {
    registry.destroy();
    connections.destroy();
  }
}
