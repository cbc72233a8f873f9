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
    return EnumSet.allOf(Capability.class);
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
