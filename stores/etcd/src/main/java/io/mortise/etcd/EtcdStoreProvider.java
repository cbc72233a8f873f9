package io.mortise.etcd;

import io.mortise.spi.LockStore;
import io.mortise.spi.LockStoreProvider;
import io.mortise.spi.StoreUrl;
import java.util.Set;

/** Opens {@code etcd:} URLs, see {@link EtcdStore#open}. */
public final class EtcdStoreProvider implements LockStoreProvider {
  /** For {@link java.util.ServiceLoader}. */
  public EtcdStoreProvider() {}

  @Override
  public Set<String> schemes() {
    return Set.of("etcd");
  }

  @Override
  public LockStore open(StoreUrl url) {
    return EtcdStore.open(url);
  }
}
