package io.mortise.redis;

import io.mortise.spi.LockStore;
import io.mortise.spi.LockStoreProvider;
import io.mortise.spi.StoreUrl;
import java.util.HashSet;
import java.util.Set;

/** Opens the URLs of {@link RedisStore#open}. */
public final class RedisStoreProvider implements LockStoreProvider {
  /** For {@link java.util.ServiceLoader}. */
  public RedisStoreProvider() {}

  @Override
  public Set<String> schemes() {
    Set<String> schemes = new HashSet<>(Set.of("redis", "rediss"));
    schemes.addAll(PlainStores.SCHEMES);
    return schemes;
  }

  @Override
  public LockStore open(StoreUrl url) {
    return PlainStores.SCHEMES.contains(url.scheme())
        ? PlainStores.open(url)
        : RedisLockStore.connect(RedisTarget.parse(url));
  }
}
