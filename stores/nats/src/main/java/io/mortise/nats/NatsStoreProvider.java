package io.mortise.nats;

import io.mortise.spi.LockStore;
import io.mortise.spi.LockStoreProvider;
import io.mortise.spi.StoreUrl;
import java.util.Set;

/** Opens {@code nats:} URLs, see {@link NatsStore#open(String)}. */
public final class NatsStoreProvider implements LockStoreProvider {
  /** For {@link java.util.ServiceLoader}. */
  public NatsStoreProvider() {}

  @Override
  public Set<String> schemes() {
    return Set.of("nats");
  }

  @Override
  public LockStore open(StoreUrl url) {
    return NatsStore.open(url);
  }
}
