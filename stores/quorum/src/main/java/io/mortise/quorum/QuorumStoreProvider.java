package io.mortise.quorum;

import io.mortise.spi.LockStore;
import io.mortise.spi.LockStoreProvider;
import io.mortise.spi.StoreUrl;
import io.mortise.spi.time.Ticker;
import java.util.Set;

/** Opens {@code quorum:} URLs, see {@link QuorumStore#open}. */
public final class QuorumStoreProvider implements LockStoreProvider {
  /** For {@link java.util.ServiceLoader}. */
  public QuorumStoreProvider() {}

  @Override
  public Set<String> schemes() {
    return Set.of("quorum");
  }

  @Override
  public LockStore open(StoreUrl url) {
    return QuorumTarget.parse(url).connect(Ticker.SYSTEM);
  }
}
