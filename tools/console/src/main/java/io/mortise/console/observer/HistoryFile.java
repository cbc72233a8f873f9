package io.mortise.console.observer;

import io.mortise.admin.LockParticipant.ClientInfo;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The last events in a SQLite file, as many as {@link EventRing} keeps, so that they outlive the
 * console. {@link #append} may be called by any thread, the rest by one.
 */
public final class HistoryFile implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(HistoryFile.class);

  /** The id that marks our SQLite files: "MORH". */
  private static final int APPLICATION = 1_297_044_040;

  /** The version of its tables, to be raised with each change of them. */
  private static final int VERSION = 1;

  private static final Duration FLUSH = Duration.ofSeconds(1);
  private static final Duration ALIVE = Duration.ofSeconds(5);

  private final Path file;
  private final String store;
  private final Connection connection;
  private final List<ObservedEvent> pending = new ArrayList<>();
  private Instant flushed = Instant.EPOCH;
  private boolean failing;

  private HistoryFile(Path file, String store, Connection connection) {
    this.file = file;
    this.store = store;
    this.connection = connection;
  }

  /**
   * The contents of a file, written by earlier consoles.
   *
   * @param since the start of the first of them
   * @param alive the end of the last of them
   * @param events the oldest first
   */
  record SavedHistory(Instant since, Instant alive, List<ObservedEvent> events) {}

  /**
   * Opens or creates a file. No other process can use it until it is closed.
   *
   * @param store of the events, without secrets
   * @throws IllegalArgumentException if it is no history file, or of another store, or there is no
   *     driver for SQLite
   * @throws UncheckedIOException if it cannot be read and written, is in use, or its tables are of
   *     another version
   */
  public static HistoryFile open(Path file, String store) {
    try {
      Path folder = file.toAbsolutePath().getParent();
      if (folder != null && !Files.isDirectory(folder)) {
        throw new IllegalArgumentException(
            "Cannot make history file '%s': folder '%s' is missing. Make it, or choose another file."
                .formatted(file, folder));
      }
      if (Files.notExists(file)) {
        create(file);
      }
      Connection connection = connect(file);
      try {
        HistoryFile opened = new HistoryFile(file, store, connection);
        opened.prepare();
        return opened;
      } catch (SQLException | RuntimeException e) {
        connection.close();
        throw e;
      }
    } catch (IOException | SQLException e) {
      throw unusable(file, e);
    }
  }

  /** Creates the file for its owner only, as names of locks and hosts are confidential. */
  private static void create(Path file) throws IOException {
    if (file.getFileSystem().supportedFileAttributeViews().contains("posix")) {
      Files.createFile(
          file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    } else {
      Files.createFile(file);
    }
  }

  private static Connection connect(Path file) throws SQLException {
    String url = "jdbc:sqlite:" + file.toAbsolutePath();
    if (DriverManager.drivers().noneMatch(driver -> accepts(driver, url))) {
      throw new IllegalArgumentException(
          "A history file needs the driver of SQLite. Add org.xerial:sqlite-jdbc.");
    }
    return DriverManager.getConnection(url);
  }

  private static boolean accepts(java.sql.Driver driver, String url) {
    try {
      return driver.acceptsURL(url);
    } catch (SQLException e) {
      return false;
    }
  }

  private static UncheckedIOException unusable(Path file, Exception e) {
    return new UncheckedIOException(
        "Cannot use history file '"
            + file
            + "': "
            + e.getMessage()
            + ". If another console uses it, choose another file.",
        e instanceof IOException io ? io : new IOException(e));
  }

  private void prepare() throws SQLException {
    try (Statement statement = connection.createStatement()) {
      // Check before the first write: the file may be another database.
      if (number(statement, "PRAGMA application_id") == APPLICATION) {
        checkVersion(number(statement, "PRAGMA user_version"));
      } else if (number(statement, "SELECT count(*) FROM sqlite_master") > 0) {
        throw new IllegalArgumentException(
            "File '" + file + "' is a database of something else. Choose another history file.");
      }
      statement.execute("PRAGMA busy_timeout = 1000");
      statement.execute("PRAGMA locking_mode = EXCLUSIVE");
      statement.execute("PRAGMA synchronous = NORMAL");
      statement.execute("PRAGMA journal_mode = WAL");
      connection.setAutoCommit(false);
      if (number(statement, "SELECT count(*) FROM sqlite_master") == 0) {
        for (String each : read("history_schema").split(";\\s*\n", -1)) {
          if (!each.isBlank()) {
            statement.execute(each);
          }
        }
      }
      // Locks the file for this process.
      statement.execute("DELETE FROM event WHERE seq < 0");
      connection.commit();
    }
  }

  private void checkVersion(long version) {
    if (version != VERSION) {
      String message =
          "History file '"
              + file
              + "' has version "
              + version
              + " of its tables, and this console uses version "
              + VERSION
              + ". Choose another file, or move this one away.";
      throw new UncheckedIOException(message, new IOException(message));
    }
  }

  private static long number(Statement statement, String query) throws SQLException {
    try (ResultSet rows = statement.executeQuery(query)) {
      rows.next();
      return rows.getLong(1);
    }
  }

  /**
   * Reads the events of earlier consoles; null if there was none.
   *
   * @param most of events
   * @throws IllegalArgumentException if they observed another store
   */
  @Nullable SavedHistory read(int most) {
    try (PreparedStatement console = connection.prepareStatement(read("history_console"));
        ResultSet row = console.executeQuery()) {
      if (!row.next()) {
        return null;
      }
      if (!row.getString("store").equals(store)) {
        throw new IllegalArgumentException(
            "History file '"
                + file
                + "' is of store "
                + row.getString("store")
                + ", and not of "
                + store
                + ". Choose another file.");
      }
      return new SavedHistory(
          Instant.ofEpochMilli(row.getLong("since_ms")),
          Instant.ofEpochMilli(row.getLong("alive_ms")),
          events(row.getLong("last_seq") - most));
    } catch (SQLException e) {
      throw unusable(file, e);
    }
  }

  private List<ObservedEvent> events(long after) throws SQLException {
    List<ObservedEvent> events = new ArrayList<>();
    try (PreparedStatement select = connection.prepareStatement(read("history_events"))) {
      select.setLong(1, after);
      try (ResultSet row = select.executeQuery()) {
        while (row.next()) {
          events.add(event(row));
        }
      }
    }
    return events;
  }

  private static ObservedEvent event(ResultSet row) throws SQLException {
    String host = row.getString("host");
    long held = row.getLong("held_ms");
    boolean noHeld = row.wasNull();
    return new ObservedEvent(
        row.getLong("seq"),
        Instant.ofEpochMilli(row.getLong("at_ms")),
        ObservedKind.valueOf(row.getString("kind").toUpperCase(Locale.ROOT)),
        row.getString("lock"),
        row.getString("session"),
        host == null ? null : new ClientInfo(host, row.getLong("pid"), row.getString("client")),
        row.getString("label"),
        row.getString("attempt"),
        row.getLong("token"),
        noHeld ? null : Duration.ofMillis(held),
        Duration.ofMillis(row.getLong("doubt_ms")),
        row.getString("text"));
  }

  /** Adds an event, written with the next flush. */
  void append(ObservedEvent event) {
    synchronized (pending) {
      if (pending.size() < EventRing.KEPT) {
        pending.add(event);
      }
    }
  }

  /** Writes added events; called once a second. A full disk loses history only. */
  void flush(Instant now) {
    List<ObservedEvent> events;
    synchronized (pending) {
      Duration since = Duration.between(flushed, now);
      if (since.compareTo(pending.isEmpty() ? ALIVE : FLUSH) < 0 && !since.isNegative()) {
        return;
      }
      events = List.copyOf(pending);
    }
    flushed = now;
    try {
      write(events, now);
      synchronized (pending) {
        pending.subList(0, events.size()).clear();
      }
      if (failing) {
        failing = false;
        log.info("History file '{}' is written again.", file);
      }
    } catch (SQLException e) {
      rollback();
      if (!failing) {
        failing = true;
        log.warn(
            "History file '{}' cannot be written. The console goes on, and tries again.", file, e);
      }
    }
  }

  private void write(List<ObservedEvent> events, Instant now) throws SQLException {
    try (PreparedStatement insert = connection.prepareStatement(read("history_insert"))) {
      for (ObservedEvent event : events) {
        set(insert, event);
        insert.addBatch();
      }
      insert.executeBatch();
    }
    if (!events.isEmpty()) {
      try (PreparedStatement trim = connection.prepareStatement(read("history_trim"))) {
        trim.setLong(1, events.get(events.size() - 1).seq() - EventRing.KEPT);
        trim.executeUpdate();
      }
    }
    try (PreparedStatement alive = connection.prepareStatement(read("history_alive"))) {
      alive.setString(1, store);
      alive.setLong(2, now.toEpochMilli());
      alive.setLong(3, now.toEpochMilli());
      alive.executeUpdate();
    }
    connection.commit();
  }

  private static void set(PreparedStatement insert, ObservedEvent event) throws SQLException {
    ClientInfo client = event.client();
    Duration held = event.held();
    insert.setLong(1, event.seq());
    insert.setLong(2, event.at().toEpochMilli());
    insert.setString(3, event.kind().toString());
    insert.setString(4, event.lock());
    insert.setString(5, event.session());
    insert.setString(6, client == null ? null : client.host());
    insert.setLong(7, client == null ? 0 : client.pid());
    insert.setString(8, client == null ? null : client.name());
    insert.setString(9, event.label());
    insert.setString(10, event.attempt());
    insert.setLong(11, event.token());
    insert.setObject(12, held == null ? null : held.toMillis());
    insert.setLong(13, event.doubt().toMillis());
    insert.setString(14, event.text());
  }

  private void rollback() {
    try {
      connection.rollback();
    } catch (SQLException e) {
      log.debug("The transaction of the history file is gone already.", e);
    }
  }

  private static String read(String statement) {
    String name = statement + ".sql";
    try (InputStream in = HistoryFile.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException("Resource " + name + " is missing.");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Writes the rest, and unlocks the file. */
  void close(Instant now) {
    flushed = Instant.EPOCH;
    flush(now);
    close();
  }

  /** Unlocks the file. */
  @Override
  public void close() {
    try {
      connection.close();
    } catch (SQLException e) {
      log.warn("History file '{}' could not be closed.", file, e);
    }
  }
}
