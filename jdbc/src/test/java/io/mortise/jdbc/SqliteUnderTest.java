package io.mortise.jdbc;

import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.testkit.StoreUnderTest;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/** A file of its own for each test. */
final class SqliteUnderTest implements StoreUnderTest {
  private Path directory;

  @Override
  public LockStore open() {
    directory = TempTree.create();
    return reopen();
  }

  private LockStore reopen() {
    return JdbcStore.open("jdbc:sqlite:" + directory.resolve("locks.db"));
  }

  @Override
  public Set<Capability> capabilities() {
    return EnumSet.of(
        Capability.QUEUE,
        Capability.SHARED,
        Capability.PERMITS,
        Capability.AT_MOST,
        Capability.AT_LEAST,
        Capability.TOKEN,
        Capability.TOKEN_FLOOR,
        Capability.DOWNGRADE,
        Capability.EVICT,
        Capability.PUSH);
  }

  @Override
  public Optional<LockStore> restart(LockStore store) {
    store.close();
    return Optional.of(reopen());
  }

  @Override
  public void close() {
    TempTree.delete(directory);
  }
}
