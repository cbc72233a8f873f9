package io.mortise.jdbc;

import io.mortise.spi.LockStore;
import io.mortise.spi.LockStoreProvider;
import io.mortise.spi.StoreUrl;
import java.util.Set;

/** Opens the stores of this module by URL; {@link JdbcStore} lists their parameters. */
public final class JdbcStoreProvider implements LockStoreProvider {
  /** For {@link java.util.ServiceLoader}. */
  public JdbcStoreProvider() {}

  @Override
  public Set<String> schemes() {
    return JdbcStore.schemes();
  }

  @Override
  public LockStore open(StoreUrl url) {
    return JdbcStore.open(url);
  }
}
