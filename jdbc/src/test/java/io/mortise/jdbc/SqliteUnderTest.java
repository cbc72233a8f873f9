package io.mortise.jdbc;

import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.testkit.StoreUnderTest;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

/** A file of its own for each test, or a namespace of its own in one that is kept. */
final class SqliteUnderTest implements StoreUnderTest {
  private static final AtomicInteger NAMESPACES = new AtomicInteger();

  private final boolean kept;
  private Path directory;
  private String namespace = "own";

  SqliteUnderTest() {
    this.kept = false;
  }

  /** For tests that leave in the file what those that follow must not see. */
  SqliteUnderTest(Path directory) {
    this.kept = true;
    this.directory = directory;
  }

  @Override
  public LockStore open() {
    if (kept) {
      namespace = "kept" + NAMESPACES.incrementAndGet();
    } else {
      directory = TempTree.create();
    }
    return reopen();
  }

  private LockStore reopen() {
    return JdbcStore.open(
        "jdbc:sqlite:" + directory.resolve("locks.db") + "?namespace=" + namespace);
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
    if (!kept) {
      TempTree.delete(directory);
    }
  }
}
