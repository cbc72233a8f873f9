package io.mortise.support.outer;

import io.mortise.OuterLocks;
import io.mortise.internal.outer.OuterLockProvider;
import io.mortise.spi.LockStore;
import io.mortise.spi.time.Ticker;
import java.time.Duration;

/** Makes stores with outer locks. */
public final class OuterLockStoreProvider implements OuterLockProvider {
  /** Called by {@link java.util.ServiceLoader}. */
  public OuterLockStoreProvider() {}

  @Override
  public LockStore around(LockStore store, OuterLocks outer, Duration ttl) {
    return OuterLockStore.around(store, outer, ttl, Ticker.SYSTEM);
  }
}
