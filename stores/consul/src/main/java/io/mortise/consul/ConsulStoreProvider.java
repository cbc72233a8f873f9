package io.mortise.consul;

import io.mortise.spi.LockStore;
import io.mortise.spi.LockStoreProvider;
import io.mortise.spi.StoreUrl;
import java.util.Set;

/** Opens {@code consul:} URLs, see {@link ConsulStore#open}. */
public final class ConsulStoreProvider implements LockStoreProvider {
  /** For {@link java.util.ServiceLoader}. */
  public ConsulStoreProvider() {}

  @Override
  public Set<String> schemes() {
    return Set.of("consul");
  }

  @Override
  public LockStore open(StoreUrl url) {
    return ConsulStore.open(url);
  }
}
