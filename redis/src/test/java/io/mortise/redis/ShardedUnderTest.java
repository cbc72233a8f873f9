package io.mortise.redis;

import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.spi.PartitionedStore;
import io.mortise.testkit.StoreUnderTest;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A server of several that share the names: each keeps sessions of its own. */
final class ShardedUnderTest implements StoreUnderTest {
  private static final AtomicInteger NAMESPACES = new AtomicInteger();

  private @Nullable LockStore whole;

  @Override
  public LockStore open() {
    LockStore opened =
        RedisStore.open(
            "redis-sharded://127.0.0.1:%d,127.0.0.1:%d?ids=a,b&namespace=shard%d"
                .formatted(
                    Servers.REDIS_6.shared().port(),
                    Servers.REDIS_7.shared().port(),
                    NAMESPACES.incrementAndGet()));
    whole = opened;
    return ((PartitionedStore) opened).partition(1);
  }

  @Override
  public Set<Capability> capabilities() {
    return EnumSet.allOf(Capability.class);
  }

  @Override
  public Duration shortTtl() {
    return Duration.ofMillis(400);
  }

  @Override
  public void close() {
    if (whole != null) {
      whole.close();
    }
  }
}
