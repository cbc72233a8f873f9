package io.mortise.memcached;

import io.mortise.spi.LockStore;
import io.mortise.spi.LockStoreProvider;
import io.mortise.spi.StoreUrl;
import io.mortise.spi.time.Ticker;
import java.util.Set;

/** Opens {@code memcached:} URLs, see {@link MemcachedStore#open(String)}. */
public final class MemcachedStoreProvider implements LockStoreProvider {
  /** For {@link java.util.ServiceLoader}. */
  public MemcachedStoreProvider() {}

  @Override
  public Set<String> schemes() {
    return Set.of("memcached");
  }

  @Override
  public LockStore open(StoreUrl url) {
    return MemcachedServers.connect(url, Ticker.SYSTEM);
  }
}
