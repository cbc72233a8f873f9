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
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The master that Sentinels name. */
final class SentinelUnderTest implements StoreUnderTest {
  private static final AtomicInteger NAMESPACES = new AtomicInteger();

  private final Supplier<RedisSentinels> set;
  private final InboxSubscriptionProbe inboxSubscriptionProbe = new InboxSubscriptionProbe();
  private String namespace = "";
  private @Nullable LockStore store;

  SentinelUnderTest(Supplier<RedisSentinels> set) {
    this.set = set;
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
    return inboxSubscriptionProbe.of(RedisStore.open(set.get().url() + "?namespace=" + namespace));
  }

  @Override
  public void awaitConnection(SessionId session, boolean there) {
    inboxSubscriptionProbe.await(
        set.get().master(), "m:" + namespace + ":i:" + session.value(), there);
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
    set.get().master().ask("CONFIG", "SET", "min-replicas-to-write", "9");
    return Optional.of(() -> set.get().master().ask("CONFIG", "SET", "min-replicas-to-write", "0"));
  }

  @Override
  public void close() {
    if (store != null) {
      store.close();
    }
  }
}
