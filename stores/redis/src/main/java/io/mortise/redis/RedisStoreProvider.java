package io.mortise.redis;

import io.mortise.spi.LockStore;
import io.mortise.spi.LockStoreProvider;
import io.mortise.spi.StoreUrl;
import io.mortise.spi.time.Ticker;
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
    schemes.addAll(PlainStoreOpener.SCHEMES);
    schemes.addAll(ShardedStoreOpener.SCHEMES);
    return schemes;
  }

  @Override
  public LockStore open(StoreUrl url) {
    if (PlainStoreOpener.SCHEMES.contains(url.scheme())) {
      return PlainStoreOpener.open(url, Ticker.SYSTEM);
    } else if (ShardedStoreOpener.SCHEMES.contains(url.scheme())) {
      return ShardedStoreOpener.open(url, Ticker.SYSTEM);
    }
    return url.scheme().endsWith("-cluster")
        ? RedisClusterStore.connect(url, Ticker.SYSTEM)
        : RedisBeatStore.wrapIfStrict(
            RedisLockStore.connect(RedisTarget.parse(url), Ticker.SYSTEM), Ticker.SYSTEM);
  }
}
