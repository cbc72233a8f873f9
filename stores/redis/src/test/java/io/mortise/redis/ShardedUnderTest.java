package io.mortise.redis;

import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.spi.PartitionedStore;
import io.mortise.spi.SessionId;
import io.mortise.testkit.StoreUnderTest;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** One of several servers that share the names: each keeps sessions of its own. */
final class ShardedUnderTest implements StoreUnderTest {
  private static final AtomicInteger NAMESPACES = new AtomicInteger();

  private final InboxSubscriptionProbe inboxSubscriptionProbe = new InboxSubscriptionProbe();
  private String namespace = "";
  private @Nullable LockStore whole;

  @Override
  public LockStore open() {
    namespace = "shard" + NAMESPACES.incrementAndGet();
    PartitionedStore opened = connect();
    whole = opened;
    return inboxSubscriptionProbe.of(opened.partition(1));
  }

  private PartitionedStore connect() {
    return (PartitionedStore)
        RedisStore.open(
            "redis-sharded://127.0.0.1:%d,127.0.0.1:%d?ids=a,b&namespace=%s"
                .formatted(
                    RedisServers.REDIS_6.shared().port(),
                    RedisServers.REDIS_7.shared().port(),
                    namespace));
  }

  @Override
  public LockStore another() {
    return inboxSubscriptionProbe.of(new OwningPartitionStore(connect(), 1));
  }

  @Override
  public void awaitConnection(SessionId session, boolean there) {
    inboxSubscriptionProbe.await(
        RedisServers.REDIS_7.shared(), "m:" + namespace + ":i:" + session.value(), there);
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
  public Optional<Runnable> forbidWrites() {
    return RedisServers.REDIS_7.forbidWrites();
  }

  @Override
  public void close() {
    if (whole != null) {
      whole.close();
    }
  }
}
