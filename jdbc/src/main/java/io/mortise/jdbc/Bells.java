package io.mortise.jdbc;

import io.mortise.spi.SessionId;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.ClosedWatchServiceException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Bells by which processes wake each other: one file per session, in a directory beside the
 * database. Who leaves news for a session writes a byte into its file; its process watches the
 * directory of that file alone, so that a bell wakes nobody else. A bell is a hint; a missed one is
 * made up for by the backstop of {@link NewsWatch}.
 */
final class Bells implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Bells.class);
  private static final String FILE = "bell";

  private final Path database;
  private final Path directory;
  private final @Nullable WatchService watch;

  Bells(Path database) {
    this.database = database;
    this.directory = database.resolveSibling(database.getFileName() + ".bells");
    this.watch = watchService();
  }

  private static @Nullable WatchService watchService() {
    if (!System.getProperty("os.name", "").startsWith("Linux")) {
      // Elsewhere the watch service polls itself, every few seconds.
      return null;
    }
    try {
      return FileSystems.getDefault().newWatchService();
    } catch (IOException e) {
      LOG.info("No inotify instance is left; polling the lock file instead: {}", e.toString());
      return null;
    }
  }

  /** Wakes the process of a session, if it listens. Never throws. */
  void ring(SessionId session) {
    try (FileChannel bell = FileChannel.open(bell(directory, session), StandardOpenOption.WRITE)) {
      bell.write(ByteBuffer.wrap(new byte[] {1}), 0);
    } catch (NoSuchFileException e) {
      // It does not listen.
    } catch (IOException e) {
      LOG.debug("Cannot ring {}", session, e);
    }
  }

  private static Path bell(Path directory, SessionId session) {
    return directory.resolve(session.value()).resolve(FILE);
  }

  /** Gets ready to be woken for a session. */
  void listen(SessionId session) {
    if (watch == null) {
      return;
    }
    try {
      Path own = directory.resolve(session.value());
      makeDirectory(directory);
      makeDirectory(own);
      Path bell = bell(directory, session);
      if (!Files.exists(bell)) {
        Files.createFile(bell);
        copyRights(database, bell, false);
      }
      own.register(watch, StandardWatchEventKinds.ENTRY_MODIFY);
    } catch (IOException e) {
      LOG.warn("No bell for session {}; its waiters are woken by polling", session, e);
    }
  }

  private void makeDirectory(Path made) throws IOException {
    if (!Files.isDirectory(made)) {
      Files.createDirectories(made);
      copyRights(database, made, true);
    }
  }

  /** Who may use the database may ring. */
  private static void copyRights(Path from, Path to, boolean directory) throws IOException {
    if (Files.getFileAttributeView(from, PosixFileAttributeView.class) == null) {
      return;
    }
    Set<PosixFilePermission> rights = new HashSet<>(Files.getPosixFilePermissions(from));
    if (directory) {
      add(rights, PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_EXECUTE);
      add(rights, PosixFilePermission.GROUP_READ, PosixFilePermission.GROUP_EXECUTE);
      add(rights, PosixFilePermission.OTHERS_READ, PosixFilePermission.OTHERS_EXECUTE);
    }
    Files.setPosixFilePermissions(to, rights);
  }

  private static void add(
      Set<PosixFilePermission> rights, PosixFilePermission reads, PosixFilePermission enters) {
    if (rights.contains(reads)) {
      rights.add(enters);
    }
  }

  /** Undoes {@link #listen}. */
  void forget(SessionId session) {
    try {
      Files.deleteIfExists(bell(directory, session));
      Files.deleteIfExists(directory.resolve(session.value()));
    } catch (IOException e) {
      LOG.debug("Cannot remove the bell of {}", session, e);
    }
  }

  /** Some of the sessions that have a bell. */
  List<SessionId> listening() {
    if (!Files.isDirectory(directory)) {
      return List.of();
    }
    try (Stream<Path> bells = Files.list(directory)) {
      return bells
          .map(path -> String.valueOf(path.getFileName()))
          .filter(name -> name.length() == SessionId.LENGTH)
          .limit(LockSteps.STEPS)
          .map(SessionId::new)
          .toList();
    } catch (IOException | RuntimeException e) {
      LOG.debug("Cannot list {}", directory, e);
      return List.of();
    }
  }

  /** Whether a bell can wake this process. */
  boolean works() {
    return watch != null;
  }

  /** Sleeps so long at most; true if a bell rang. */
  boolean await(Duration longest) throws InterruptedException {
    try {
      WatchKey key = Objects.requireNonNull(watch).poll(longest.toNanos(), TimeUnit.NANOSECONDS);
      if (key == null) {
        return false;
      }
      key.pollEvents();
      key.reset();
      return true;
    } catch (ClosedWatchServiceException e) {
      return false;
    }
  }

  @Override
  public void close() {
    if (watch != null) {
      try {
        watch.close();
      } catch (IOException e) {
        LOG.debug("Cannot close the watch of {}", directory, e);
      }
    }
  }
}
