package io.mortise.jdbc.notify;

import io.mortise.spi.SessionId;
import io.mortise.support.table.LockTable;
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
 * Notifications between processes by files: a folder per session, beside the database.
 *
 * <p>A process that leaves a notification for a session makes the file {@code ring} in its folder;
 * the session's process watches that folder alone, so that no other process is woken. It removes
 * the file and then reads the notifications: those of a process that found the file already there
 * are among them. A file that is missed is made up for by the backstop of {@link
 * NotificationPoller}.
 *
 * <p>The file {@code alive} is locked by the session's process for as long as it runs. The kernel
 * gives the lock up with the process, however that ends, so that others can tell.
 */
public final class FileNotifier implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(FileNotifier.class);

  private static final Path RING = Path.of("ring");
  private static final Path ALIVE = Path.of("alive");

  /** The name of {@link #ALIVE} until it is locked. */
  private static final Path UNLOCKED = Path.of("alive.new");

  /**
   * Prefix of the system properties that name the sessions whose file lock this JVM holds. Such a
   * lock belongs to the process, which loses it by closing any other channel to the file: nobody
   * here may open it. Properties, since this class may be loaded more than once, as by several
   * applications of one server.
   */
  private static final String HERE = "io.mortise.jdbc.alive.";

  private final FileNotifierFolder folder;
  private final @Nullable WatchService watch;
  private final Map<SessionId, WatchedFolder> listening = new ConcurrentHashMap<>();
  private final AtomicBoolean isWarned = new AtomicBoolean();

  /** The open files of a session, until it is forgotten. */
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

  /** On Linux only: elsewhere the watch service polls, every few seconds. */
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
      // It does not listen, or has yet to see the file, and will read all notifications then.
    } catch (IOException e) {
      log.debug("Cannot notify {}", session, e);
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
      // A file that was made before that is not reported any more.
      removeSignal(session);
    } catch (IOException e) {
      if (isWarned.compareAndSet(false, true)) {
        log.warn(
            "No file notifications for session {}; its waiters are woken by polling", session, e);
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
    try (SecureDirectoryStream<Path> parent = folder.open();
        SecureDirectoryStream<Path> own = folder.open(session)) {
      for (Path file : own) {
        remove(own, Objects.requireNonNull(file.getFileName()));
      }
      parent.deleteDirectory(Path.of(session.value()));
    } catch (NoSuchFileException e) {
      log.trace("There is no notification folder of {}", session, e);
    } catch (IOException e) {
      log.debug("Cannot remove the notification folder of {}", session, e);
    }
    WatchedFolder ours = listening.remove(session);
    if (ours != null) {
      try {
        ours.close();
      } catch (IOException e) {
        log.debug("Cannot close the notification folder of {}", session, e);
      }
      System.clearProperty(HERE + session.value());
    }
  }

  /** Some of the sessions that have a notification folder. */
  public List<SessionId> listening() {
    List<SessionId> found = new ArrayList<>();
    try (SecureDirectoryStream<Path> parent = folder.open()) {
      for (Path entry : parent) {
        String name = String.valueOf(entry.getFileName());
        if (name.length() == SessionId.LENGTH && found.size() < LockTable.STEPS) {
          found.add(new SessionId(name));
        }
      }
    } catch (NoSuchFileException e) {
      log.trace("Nobody has listened yet", e);
    } catch (IOException | RuntimeException e) {
      log.debug("Cannot list the notification folders", e);
    }
    return found;
  }

  /** Whether a file can wake this process. */
  public boolean isListening() {
    return watch != null;
  }

  /**
   * Sleeps so long at most; true if a file woke it. The caller reads the notifications after this.
   */
  boolean await(Duration longest) throws InterruptedException {
    try {
      WatchKey key = Objects.requireNonNull(watch).poll(longest.toNanos(), TimeUnit.NANOSECONDS);
      if (key == null) {
        return false;
      }
      key.pollEvents();
      key.reset();
      removeSignal(new SessionId(String.valueOf(((Path) key.watchable()).getFileName())));
      return true;
    } catch (ClosedWatchServiceException e) {
      return false;
    }
  }

  private void removeSignal(SessionId session) {
    WatchedFolder watched = listening.get(session);
    if (watched != null) {
      try {
        remove(watched.folder(), RING);
      } catch (IOException | ClosedDirectoryStreamException e) {
        log.debug("Cannot remove the notification file of {}", session, e);
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
      log.debug("Cannot close the watch of the notification folders", e);
    }
  }
}
