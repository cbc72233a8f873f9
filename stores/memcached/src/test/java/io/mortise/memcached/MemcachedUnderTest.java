package io.mortise.memcached;

import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.testkit.StoreUnderTest;
import io.mortise.testkit.contract.differential.ExpiringKeyTable;
import java.util.Set;

/** Locks on the shared server, each test with a namespace of its own. */
final class MemcachedUnderTest implements StoreUnderTest {
  @Override
  public LockStore open() {
    return MemcachedStore.open(Memcacheds.shared().url() + "?namespace=" + Memcacheds.namespace());
  }

  @Override
  public LockStore reference() {
    return new ExpiringKeyTable();
  }

  @Override
  public boolean listsLocks() {
    return false;
  }

  /** One at a time, and nothing else. */
  @Override
  public Set<Capability> capabilities() {
    return Set.of();
  }
}
