package io.mortise.spring.integration;

import io.mortise.testserver.TestStore;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.support.locks.RenewableLockRegistry;

@Tag("product")
class RedisOuterRegistryTest extends OuterRegistryContract {
  private final String prefix = "locks-" + UUID.randomUUID();
  private final List<RedisLockRegistry> registries = new ArrayList<>();
  private LettuceConnectionFactory connections;
  private StringRedisTemplate redis;

  @BeforeEach
  void connect() {
    URI server = URI.create(TestStore.REDIS.newUrl());
    connections = new LettuceConnectionFactory(server.getHost(), server.getPort());
    connections.afterPropertiesSet();
    connections.start();
    redis = new StringRedisTemplate(connections);
  }

  @AfterEach
  void disconnect() {
    registries.forEach(RedisLockRegistry::destroy);
    connections.destroy();
  }

  @Override
  Supplier<RenewableLockRegistry<?>> process(Duration timeToLive) {
    return () -> {
      RedisLockRegistry registry = new RedisLockRegistry(connections, prefix, timeToLive);
      synchronized (registries) {
        registries.add(registry);
      }
      return registry;
    };
  }

  @Override
  void expire(String key) {
    redis.delete(prefix + ":" + key);
  }

  @Override
  long end(String key) {
    return System.currentTimeMillis() + redis.getExpire(prefix + ":" + key, TimeUnit.MILLISECONDS);
  }
}
