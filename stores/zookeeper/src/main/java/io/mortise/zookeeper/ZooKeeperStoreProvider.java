package io.mortise.zookeeper;

import io.mortise.spi.LockStore;
import io.mortise.spi.LockStoreProvider;
import io.mortise.spi.StoreUrl;
import io.mortise.spi.time.Ticker;
import io.mortise.spi.time.WallClock;
import java.util.Set;

/** Opens {@code zk:} URLs, see {@link ZooKeeperStore#open}. */
public final class ZooKeeperStoreProvider implements LockStoreProvider {
  /** For {@link java.util.ServiceLoader}. */
  public ZooKeeperStoreProvider() {}

  @Override
  public Set<String> schemes() {
    return Set.of("zk");
  }

  @Override
  public LockStore open(StoreUrl url) {
    return ZooKeeperLockStore.connect(url, Ticker.SYSTEM, WallClock.SYSTEM);
  }
}
