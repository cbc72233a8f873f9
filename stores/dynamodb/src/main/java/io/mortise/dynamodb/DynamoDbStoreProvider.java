package io.mortise.dynamodb;

import io.mortise.spi.LockStore;
import io.mortise.spi.LockStoreProvider;
import io.mortise.spi.StoreUrl;
import io.mortise.spi.time.Ticker;
import io.mortise.spi.time.WallClock;
import java.util.Set;

/** Opens {@code dynamodb:} URLs, see {@link DynamoDbStore#open(String)}. */
public final class DynamoDbStoreProvider implements LockStoreProvider {
  /** For {@link java.util.ServiceLoader}. */
  public DynamoDbStoreProvider() {}

  @Override
  public Set<String> schemes() {
    return Set.of("dynamodb");
  }

  @Override
  public LockStore open(StoreUrl url) {
    return DynamoDbLockStore.connect(url, Ticker.SYSTEM, WallClock.SYSTEM);
  }
}
