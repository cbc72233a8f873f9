package io.mortise.curator;

import io.mortise.spi.LockStore;
import io.mortise.spi.LockStoreProvider;
import io.mortise.spi.StoreUrl;
import java.util.Set;

/** Opens {@code zk+curator://} URLs. */
public final class CuratorStoreProvider implements LockStoreProvider {
  /** For the service loader. */
  public CuratorStoreProvider() {}

  @Override
  public Set<String> schemes() {
    return Set.of("zk+curator");
  }

  @Override
  public LockStore open(StoreUrl url) {
    return CuratorStore.open(url);
  }
}
