package io.mortise.zookeeper.curator;

import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.testkit.StoreUnderTest;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** The layout of read/write locks, on the server of the JVM; a base path each. */
final class CuratorUnderTest implements StoreUnderTest {
  private static final AtomicInteger BASES = new AtomicInteger();

  private final String base = "/contract" + BASES.incrementAndGet();
  private @Nullable LockStore store;

  @Override
  public LockStore open() {
    return CuratorStore.open(
        "zk+curator://" + Fleet.server().address() + "?recipe=readwrite&tick=200ms&base=" + base);
  }

  @Override
  public Set<Capability> capabilities() {
    return EnumSet.of(
        Capability.SESSION,
        Capability.QUEUE,
        Capability.SHARED,
        Capability.PERMITS,
        Capability.TOKEN,
        Capability.DOWNGRADE,
        Capability.PUSH);
  }

  @Override
  public Duration shortTtl() {
    return Duration.ofSeconds(1);
  }

  @Override
  public Optional<LockStore> restart(LockStore before) {
    before.close();
    Fleet.server().restart();
    store = open();
    return Optional.of(store);
  }

  @Override
  public void close() {
    if (store != null) {
      store.close();
    }
  }
}
