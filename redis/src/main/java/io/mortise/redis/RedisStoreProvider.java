package io.mortise.redis;

import io.mortise.spi.LockStore;
import io.mortise.spi.LockStoreProvider;
import io.mortise.spi.StoreUrl;
import java.util.Set;

/** Opens {@code redis:} and {@code rediss:} URLs, see {@link RedisStore#open}. */
public final class RedisStoreProvider implements LockStoreProvider {
  /** For {@link java.util.ServiceLoader}. */
  public RedisStoreProvider() {}

  @Override
  public Set<String> schemes() {
    return Set.of("redis", "rediss");
  }

  @Override
  public LockStore open(StoreUrl url) {
    return RedisLockStore.connect(RedisTarget.parse(url));
  }
}
