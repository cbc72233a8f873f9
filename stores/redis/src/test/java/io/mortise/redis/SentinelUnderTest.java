package io.mortise.redis;

import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.spi.SessionId;
import io.mortise.testkit.StoreUnderTest;
import io.mortise.testserver.RedisSentinels;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** The master that Sentinels name. One set of servers serves all tests of the JVM. */
final class SentinelUnderTest implements StoreUnderTest {
  private static final AtomicInteger NAMESPACES = new AtomicInteger();

  private static @Nullable RedisSentinels shared;

  private final InboxSubscriptionProbe inboxSubscriptionProbe = new InboxSubscriptionProbe();
  private String namespace = "";
  private @Nullable LockStore store;

  private static synchronized RedisSentinels shared() {
    RedisSentinels started = shared;
    if (started == null) {
      started = RedisSentinels.start(RedisServers.REDIS_7.binary(), Duration.ofSeconds(20));
      shared = started;
    }
    return started;
  }

  @Override
  public LockStore open() {
    namespace = "d" + NAMESPACES.incrementAndGet();
    LockStore opened = another();
    store = opened;
    return opened;
  }

  @Override
  public LockStore another() {
    return inboxSubscriptionProbe.of(RedisStore.open(shared().url() + "?namespace=" + namespace));
  }

  @Override
  public void awaitConnection(SessionId session, boolean there) {
    inboxSubscriptionProbe.await(
        shared().master(), "m:" + namespace + ":i:" + session.value(), there);
  }

  @Override
  public Set<Capability> capabilities() {
    return EnumSet.allOf(Capability.class);
  }

  @Override
  public Duration shortTtl() {
    return Duration.ofMillis(400);
  }

  /** As if its replicas were gone. */
  @Override
  public Optional<Runnable> forbidWrites() {
    shared().master().ask("CONFIG", "SET", "min-replicas-to-write", "9");
    return Optional.of(() -> shared().master().ask("CONFIG", "SET", "min-replicas-to-write", "0"));
  }

  @Override
  public void close() {
    if (store != null) {
      store.close();
    }
  }
}
