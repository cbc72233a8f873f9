package io.mortise.redis;

import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.testkit.StoreUnderTest;
import io.mortise.testkit.contract.differential.ExpiringKeyTable;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

/** Plain locks on the other tests' servers, each test with a prefix of its own. */
final class PlainUnderTest implements StoreUnderTest {
  private static final AtomicInteger PREFIXES = new AtomicInteger();

  private final RedisServers version;
  private final String parameters;

  PlainUnderTest(RedisServers version, String parameters) {
    this.version = version;
    this.parameters = parameters;
  }

  static String url(String redis) {
    return redis.replaceFirst("redis:", "redis-plain:");
  }

  @Override
  public LockStore open() {
    return RedisStore.open(
        url(version.shared().url())
            + "?prefix=plain"
            + PREFIXES.incrementAndGet()
            + ":*&"
            + parameters);
  }

  @Override
  public LockStore reference() {
    return new ExpiringKeyTable();
  }

  @Override
  public Optional<Runnable> forbidWrites() {
    return version.forbidWrites();
  }

  /** Exclusive locks only, and facts beside them. */
  @Override
  public Set<Capability> capabilities() {
    return Set.of(Capability.FACTS);
  }

  @Override
  public Duration shortTtl() {
    return Duration.ofMillis(800);
  }
}
