package io.mortise.jdbc;

import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreSession;
import io.mortise.support.liveness.ForwardingStore;
import io.mortise.testkit.StoreUnderTest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

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
      directory = TempDirectory.create();
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

  /** Closing it leaves what the kernel leaves of a process that is killed: files without locks. */
  @Override
  public LockStore another() {
    Set<SessionId> sessions = new HashSet<>();
    return new ForwardingStore(reopen()) {
      @Override
      public StoreSession open(SessionSpec spec, Consumer<SessionNotification> hints) {
        sessions.add(spec.id());
        return super.open(spec, hints);
      }

      @Override
      public void close() {
        super.close();
        sessions.forEach(session -> leave(session));
      }
    };
  }

  private void leave(SessionId session) {
    try {
      Path own = directory.resolve("locks.db.bells").resolve(session.value());
      Files.createFile(Files.createDirectories(own).resolve("alive"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public Optional<LockStore> restart(LockStore store) {
    store.close();
    return Optional.of(reopen());
  }

  @Override
  public void close() {
    if (!kept) {
      TempDirectory.delete(directory);
    }
  }
}
