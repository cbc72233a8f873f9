package io.mortise.jdbc.notify;

import io.mortise.jdbc.table.SqlLockTable;
import io.mortise.spi.SessionId;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.ClosedDirectoryStreamException;
import java.nio.file.ClosedWatchServiceException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystems;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.StandardOpenOption;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.nio.file.attribute.BasicFileAttributeView;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Bells by which processes wake each other: a folder per session, beside the database.
 *
 * <p>A process that leaves news for a session makes the file {@code ring} in its folder; the
 * session's process watches that folder alone, so that a bell wakes nobody else. It removes the
 * file and then reads the news: a ring that finds the file already there is served by that reading.
 * A bell is a hint; a missed one is made up for by the backstop of {@link NotificationPoller}.
 *
 * <p>The file {@code alive} is locked by the session's process for as long as it runs. The kernel
 * gives the lock up with the process, however that ends, so that others can tell.
 */
public final class FileNotifier implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(FileNotifier.class);

  private static final Path RING = Path.of("ring");
  private static final Path ALIVE = Path.of("alive");

  /** What {@link #ALIVE} is called until it is locked. */
  private static final Path UNLOCKED = Path.of("alive.new");

  /**
   * What the names of system properties begin with that tell the sessions whose lock this JVM has.
   * Such a lock belongs to the process, which loses it by closing any other channel to the file:
   * nobody here may open it. Properties, since this class may be loaded more than once, as by
   * several applications of one server.
   */
  private static final String HERE = "io.mortise.jdbc.alive.";

  private final FileNotifierFolder folder;
  private final @Nullable WatchService watch;
  private final Map<SessionId, WatchedFolder> listening = new ConcurrentHashMap<>();
  private final AtomicBoolean isWarned = new AtomicBoolean();

  /** What a session keeps open until it is forgotten. */
  private record WatchedFolder(SecureDirectoryStream<Path> folder, FileChannel alive)
      implements AutoCloseable {
    @Override
    public void close() throws IOException {
      try (folder) {
        alive.close();
      }
    }
  }

  /**
   * @param database its real path
   */
  public FileNotifier(Path database) {
    this.folder = new FileNotifierFolder(database);
    this.watch = watchService();
  }

  /** Not elsewhere: there the watch service polls itself, every few seconds. */
  public static boolean isAvailable() {
    return System.getProperty("os.name", "").startsWith("Linux");
  }

  private static @Nullable WatchService watchService() {
    if (!isAvailable()) {
      return null;
    }
    try {
      return FileSystems.getDefault().newWatchService();
    } catch (IOException e) {
      log.info("No inotify instance is left; polling the lock file instead: {}", e.toString());
      return null;
    }
  }

  /** Wakes the process of a session, if it listens. Never throws. */
  public void signal(SessionId session) {
    try (SecureDirectoryStream<Path> own = folder.open(session)) {
      own.newByteChannel(RING, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE))
          .close();
    } catch (NoSuchFileException | FileAlreadyExistsException e) {
      // It does not listen, or has yet to answer an earlier ring and will read all news then.
    } catch (IOException e) {
      log.debug("Cannot ring {}", session, e);
    }
  }

  /** Gets ready to be woken for a session. */
  void listen(SessionId session) {
    if (watch == null) {
      return;
    }
    try {
      listening.put(session, lock(session));
      folder.path(session).register(watch, StandardWatchEventKinds.ENTRY_CREATE);
      // One that was made before that is not told any more.
      silence(session);
    } catch (IOException e) {
      if (isWarned.compareAndSet(false, true)) {
        log.warn("No bell for session {}; its waiters are woken by polling", session, e);
      }
      forget(session);
    }
  }

  /** Others see the file only when it is locked. */
  private WatchedFolder lock(SessionId session) throws IOException {
    SecureDirectoryStream<Path> own = folder.make(session);
    try {
      FileChannel alive = folder.makeFile(own, UNLOCKED);
      try {
        System.setProperty(HERE + session.value(), "");
        if (alive.tryLock() == null) {
          throw new IOException("A new file is locked by somebody else.");
        }
        own.move(UNLOCKED, own, ALIVE);
        return new WatchedFolder(own, alive);
      } catch (IOException | RuntimeException e) {
        System.clearProperty(HERE + session.value());
        alive.close();
        throw e;
      }
    } catch (IOException | RuntimeException e) {
      own.close();
      throw e;
    }
  }

  /**
   * Whether the process of a session has ended. False also if nobody knows: it never listened, or
   * belongs to this JVM.
   */
  public boolean hasProcessEnded(SessionId session) {
    if (System.getProperty(HERE + session.value()) != null) {
      return false;
    }
    try (SecureDirectoryStream<Path> own = folder.open(session)) {
      // Asked first, since opening a pipe would wait for its other end.
      boolean isFile =
          own.getFileAttributeView(ALIVE, BasicFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
              .readAttributes()
              .isRegularFile();
      return isFile && isUnlocked(own);
    } catch (IOException | OverlappingFileLockException e) {
      log.trace("Nobody knows whether the process of {} runs", session, e);
      return false;
    }
  }

  private static boolean isUnlocked(SecureDirectoryStream<Path> own) throws IOException {
    try (FileChannel alive =
            (FileChannel)
                own.newByteChannel(
                    ALIVE, Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS));
        FileLock lock = alive.tryLock(0, Long.MAX_VALUE, true)) {
      return lock != null;
    }
  }

  private static void remove(SecureDirectoryStream<Path> own, Path file) throws IOException {
    try {
      own.deleteFile(file);
    } catch (NoSuchFileException e) {
      // As it should be.
    }
  }

  /** Undoes {@link #listen}, of this process or of one that has ended. */
  public void forget(SessionId session) {
    try (SecureDirectoryStream<Path> bells = folder.open();
        SecureDirectoryStream<Path> own = folder.open(session)) {
      for (Path file : own) {
        remove(own, Objects.requireNonNull(file.getFileName()));
      }
      bells.deleteDirectory(Path.of(session.value()));
    } catch (NoSuchFileException e) {
      log.trace("There is no bell of {}", session, e);
    } catch (IOException e) {
      log.debug("Cannot remove the bell of {}", session, e);
    }
    WatchedFolder ours = listening.remove(session);
    if (ours != null) {
      try {
        ours.close();
      } catch (IOException e) {
        log.debug("Cannot close the bell of {}", session, e);
      }
      System.clearProperty(HERE + session.value());
    }
  }

  /** Some of the sessions that have a bell. */
  public List<SessionId> listening() {
    List<SessionId> found = new ArrayList<>();
    try (SecureDirectoryStream<Path> bells = folder.open()) {
      for (Path entry : bells) {
        String name = String.valueOf(entry.getFileName());
        if (name.length() == SessionId.LENGTH && found.size() < SqlLockTable.STEPS) {
          found.add(new SessionId(name));
        }
      }
    } catch (NoSuchFileException e) {
      log.trace("Nobody has listened yet", e);
    } catch (IOException | RuntimeException e) {
      log.debug("Cannot list the bells", e);
    }
    return found;
  }

  /** Whether a bell can wake this process. */
  public boolean isListening() {
    return watch != null;
  }

  /** Sleeps so long at most; true if a bell rang. The caller reads the news after this. */
  boolean await(Duration longest) throws InterruptedException {
    try {
      WatchKey key = Objects.requireNonNull(watch).poll(longest.toNanos(), TimeUnit.NANOSECONDS);
      if (key == null) {
        return false;
      }
      key.pollEvents();
      key.reset();
      silence(new SessionId(String.valueOf(((Path) key.watchable()).getFileName())));
      return true;
    } catch (ClosedWatchServiceException e) {
      return false;
    }
  }

  private void silence(SessionId session) {
    WatchedFolder rung = listening.get(session);
    if (rung != null) {
      try {
        remove(rung.folder(), RING);
      } catch (IOException | ClosedDirectoryStreamException e) {
        log.debug("Cannot silence the bell of {}", session, e);
      }
    }
  }

  @Override
  public void close() {
    try {
      if (watch != null) {
        watch.close();
      }
      folder.close();
    } catch (IOException e) {
      log.debug("Cannot close the watch of the bells", e);
    }
  }
}
