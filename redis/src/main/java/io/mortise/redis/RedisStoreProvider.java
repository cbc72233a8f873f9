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
    Set<String> schemes =
        new HashSet<>(
            Set.of(
                "redis",
                "rediss",
                "redis-sentinel",
                "rediss-sentinel",
                "redis-cluster",
                "rediss-cluster"));
    schemes.addAll(PlainStores.SCHEMES);
    schemes.addAll(ShardedStores.SCHEMES);
    return schemes;
  }

  @Override
  public LockStore open(StoreUrl url) {
    if (PlainStores.SCHEMES.contains(url.scheme())) {
      return PlainStores.open(url);
    } else if (ShardedStores.SCHEMES.contains(url.scheme())) {
      return ShardedStores.open(url);
    }
    return url.scheme().endsWith("-cluster")
        ? RedisClusterStore.connect(url)
        : StrictExpiry.asWanted(RedisLockStore.connect(RedisTarget.parse(url)));
  }
}
