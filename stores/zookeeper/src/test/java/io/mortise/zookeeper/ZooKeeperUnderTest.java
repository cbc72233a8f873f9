package io.mortise.zookeeper;

import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.testkit.StoreUnderTest;
import io.mortise.testserver.ZooKeeperServer;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** One server serves all tests of the JVM; each has a root of its own. */
final class ZooKeeperUnderTest implements StoreUnderTest {
  private static final AtomicInteger ROOTS = new AtomicInteger();
  private static @Nullable ZooKeeperServer server;

  private String root = "";
  private @Nullable LockStore store;

  /** Containers are not removed while a test looks for idle locks. */
  static synchronized ZooKeeperServer server() {
    if (server == null) {
      server =
          ZooKeeperServer.start(
              TestServer.setup().withProperty("znode.container.checkIntervalMs", "600000"));
    }
    return server;
  }

  @Override
  public LockStore open() {
    root = "/contract" + ROOTS.incrementAndGet();
    return reopen();
  }

  private LockStore reopen() {
    return ZooKeeperStore.open(server().url() + root + "?tick=100ms&timeout=20s");
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
        Capability.AT_LEAST,
        Capability.EVICT,
        Capability.PUSH,
        Capability.CALL_BACK,
        Capability.FACTS);
  }

  @Override
  public Duration shortTtl() {
    return Duration.ofMillis(400);
  }

  @Override
  public Optional<LockStore> restart(LockStore before) {
    before.close();
    server().restart();
    store = reopen();
    return Optional.of(store);
  }

  @Override
  public void close() {
    if (store != null) {
      store.close();
    }
  }
}
