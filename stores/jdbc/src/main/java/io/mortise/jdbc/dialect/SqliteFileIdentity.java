package io.mortise.jdbc.dialect;

import io.mortise.spi.time.Ticker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The files of an open database, and whether others have taken their place. Thread-safe. */
final class SqliteFileIdentity {
  /** For how long one look at the file is good. */
  private static final long LOOK_NANOS = 1_000_000;

  private final Path real;
  private final Ticker ticker;

  /** The identity of the file, independent of its name; null if the file system has none. */
  private final @Nullable Object key;

  /** The log file of each open connection. */
  private final Map<Connection, WriteAheadLog> writeAheadLogs = new ConcurrentHashMap<>();

  private volatile boolean logIsReplaced;

  /** When the file was last found to be the one that was opened. */
  private volatile long lookedAt;

  /**
   * The write-ahead log and its index, by which processes see each other's commits and locks. They
   * stay what they are for as long as anybody has the database open.
   */
  private record WriteAheadLog(@Nullable Object wal, @Nullable Object index) {
    /** Whether somebody who opens the database now has another one. */
    boolean isReplacedBy(WriteAheadLog now) {
      return (wal != null && !wal.equals(now.wal)) || (index != null && !index.equals(now.index));
    }
  }

  /** That of the file as it is now, which has been opened. */
  SqliteFileIdentity(Path real, Ticker ticker) throws IOException {
    this.real = real;
    this.ticker = ticker;
    this.lookedAt = ticker.nanos() - LOOK_NANOS;
    this.key = keyOf(real);
  }

  /** A connection has opened the log. */
  void opened(Connection connection) {
    writeAheadLogs.put(connection, writeAheadLog());
  }

  private static @Nullable Object keyOf(Path file) throws IOException {
    return Files.readAttributes(file, BasicFileAttributes.class).fileKey();
  }

  /**
   * As long as a connection is open, SQLite removes neither file; if another program has, it has
   * split the locks of earlier connections from those of later ones.
   */
  boolean isReplacedInPart() {
    WriteAheadLog now = writeAheadLog();
    writeAheadLogs.keySet().removeIf(SqliteFileIdentity::isClosed);
    // Looked at last: SQLite removes them at the end of the last connection.
    logIsReplaced |=
        writeAheadLogs.entrySet().stream()
            .anyMatch(open -> open.getValue().isReplacedBy(now) && !isClosed(open.getKey()));
    boolean replaced = logIsReplaced || isFileReplaced();
    if (replaced) {
      // No transaction may go by an earlier look.
      lookedAt = ticker.nanos() - LOOK_NANOS;
    }
    return replaced;
  }

  private static boolean isClosed(Connection connection) {
    try {
      return connection.isClosed();
    } catch (SQLException e) {
      return true;
    }
  }

  private WriteAheadLog writeAheadLog() {
    return new WriteAheadLog(beside("-wal"), beside("-shm"));
  }

  private @Nullable Object beside(String suffix) {
    try {
      return keyOf(real.resolveSibling(real.getFileName() + suffix));
    } catch (IOException e) {
      return null;
    }
  }

  /**
   * Looks at the file once in a while, as a look takes a tenth of a short transaction. A hold that
   * was given in between is found to be lost by the next renewal.
   */
  boolean isReplaced() {
    if (logIsReplaced) {
      return true;
    }
    long now = ticker.nanos();
    if (now - lookedAt < LOOK_NANOS) {
      return false;
    }
    if (isFileReplaced()) {
      return true;
    }
    lookedAt = now;
    return false;
  }

  private boolean isFileReplaced() {
    try {
      return !Objects.equals(key, keyOf(real));
    } catch (NoSuchFileException e) {
      // Asked again, it may be there: a connection that opens makes another.
      return true;
    } catch (IOException e) {
      return Files.notExists(real);
    }
  }
}
