package io.mortise.jdbc.dialect;

import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.jdbc.batch.BackOff;
import io.mortise.jdbc.notify.FileNotifier;
import io.mortise.jdbc.table.Database;
import io.mortise.jdbc.table.LockRepository;
import io.mortise.jdbc.table.SqlText;
import io.mortise.jdbc.table.StoreConnection;
import io.mortise.spi.Capability;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.StoreReport;
import io.mortise.spi.StoreUrl;
import io.mortise.spi.time.DurationText;
import io.mortise.spi.time.Ticker;
import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.InstantSource;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A SQLite database file that keeps the locks of one host.
 *
 * <p>Write-ahead log, {@code synchronous=NORMAL}: a crash of any process loses nothing; a power cut
 * may lose the last grants, together with every holder. One connection per executor and no
 * driver-side waiting: SQLite's own back-off grows to 100 ms and starves, so busy is answered at
 * once and the executor retries.
 */
public final class SqliteFile implements Database {
  public static final String SCHEME = "jdbc:sqlite";

  private static final Duration MAX_IN_FLIGHT = Duration.ofSeconds(5);

  /**
   * How long to wait for another process that makes the tables. With fifty others that begin on two
   * processors it needs some seconds.
   */
  private static final Duration OPENING = Duration.ofSeconds(30);

  private static final String VERSION = "1";

  private final Path file;
  private final Path real;

  private final SqlText text;
  private final String namespace;
  private final StoreProfile profile;
  private final Ticker ticker;
  private final InstantSource wall;
  private final HostClock clock;
  private final SqliteFileIdentity identity;
  private volatile Predicate<SessionId> hasEnded = session -> false;

  private SqliteFile(
      Path file,
      Path real,
      SqlText text,
      String namespace,
      boolean create,
      Ticker ticker,
      InstantSource wall) {
    this.file = file;
    this.real = real;
    this.text = text;
    this.namespace = namespace;
    this.profile =
        new StoreProfile(
            SCHEME + ":" + file,
            capabilities(),
            MAX_IN_FLIGHT,
            Duration.ofMillis(100),
            Duration.ofMillis(10));
    this.ticker = ticker;
    this.wall = wall;
    this.clock = prepare(create);
    this.identity = identityOnceOpen();
  }

  private SqliteFileIdentity identityOnceOpen() {
    try {
      // Once more: a link that was made before the file was opened is seen by now.
      SqliteLocation.refuseSecondName(real);
      return new SqliteFileIdentity(real, ticker);
    } catch (IOException e) {
      throw new StoreUnfitException("Lock file '" + file + "' cannot be looked at: " + e + ".", e);
    }
  }

  private static Set<Capability> capabilities() {
    return FileNotifier.isAvailable()
        ? EnumSet.allOf(Capability.class)
        : EnumSet.complementOf(EnumSet.of(Capability.SKIPS_DISCONNECTED));
  }

  /** Checks the place, makes the file and the tables if they are missing. Blocks. */
  public static SqliteFile open(
      StoreUrl url,
      SqlText text,
      String namespace,
      boolean create,
      Ticker ticker,
      InstantSource wall) {
    String name = url.base().substring(SCHEME.length() + 1);
    if (name.isEmpty()
        || name.startsWith(":")
        || name.startsWith("file:")
        || name.indexOf('?') >= 0) {
      throw new IllegalArgumentException(
          "Store URL '%s' names no plain file. Write jdbc:sqlite:/path/to/locks.db; a database in memory is mem:."
              .formatted(url));
    }
    Path file;
    try {
      file = Path.of(name).toAbsolutePath().normalize();
    } catch (InvalidPathException e) {
      throw new IllegalArgumentException(
          "Store URL '" + url + "' names no file: " + e.getMessage(), e);
    }
    return new SqliteFile(
        file, SqliteLocation.makeFile(file, create), text, namespace, create, ticker, wall);
  }

  /** The path without links, which is the same whatever name it was opened by. */
  public Path realPath() {
    return real;
  }

  /**
   * On one connection, however often it has to try: many processes may begin at one time, and each
   * new connection would be one more that is in the way of the others.
   */
  private HostClock prepare(boolean create) {
    long limit = ticker.nanos() + OPENING.toNanos();
    Connection connection = null;
    try {
      for (int tries = 0; ; tries++) {
        try {
          if (connection == null) {
            connection = connection();
          }
          HostClock agreed = prepare(connection, create);
          connection.close();
          return agreed;
        } catch (SQLException e) {
          if (errorKind(e) != ErrorKind.BUSY || ticker.nanos() > limit) {
            throw refusal(e);
          }
          BackOff.pause(tries);
        }
      }
    } catch (RuntimeException e) {
      try {
        if (connection != null) {
          connection.close();
        }
      } catch (SQLException second) {
        e.addSuppressed(second);
      }
      throw e;
    }
  }

  private HostClock prepare(Connection connection, boolean create) throws SQLException {
    LockRepository lockRepository = new LockRepository(connection, text, namespace);
    try (Statement statement = connection.createStatement()) {
      // Mostly all is there, and then nothing is written, so that nobody has to wait for anybody.
      HostClock agreed = isMade(statement) ? agreed(lockRepository) : null;
      return agreed != null ? agreed : make(statement, lockRepository, create);
    }
  }

  private static Set<String> tablesAndIndexes(Statement statement) throws SQLException {
    Set<String> names = new HashSet<>();
    try (ResultSet row = statement.executeQuery("SELECT name FROM sqlite_master")) {
      while (row.next()) {
        names.add(row.getString(1));
      }
    }
    return names;
  }

  private boolean isMade(Statement statement) throws SQLException {
    if (!tablesAndIndexes(statement).containsAll(text.schemaNames())) {
      return false;
    }
    try (ResultSet mode = statement.executeQuery("PRAGMA journal_mode")) {
      return mode.next() && mode.getString(1).equalsIgnoreCase("wal");
    }
  }

  /** Null if something has to be written first. */
  private @Nullable HostClock agreed(LockRepository lockRepository) throws SQLException {
    Map<String, String> facts = lockRepository.facts();
    return VERSION.equals(facts.get("schema")) ? HostClock.agreed(facts, ticker, wall) : null;
  }

  private HostClock make(Statement statement, LockRepository lockRepository, boolean create)
      throws SQLException {
    try (ResultSet mode = statement.executeQuery("PRAGMA journal_mode=WAL")) {
      if (!mode.next() || !mode.getString(1).equalsIgnoreCase("wal")) {
        throw new StoreUnfitException(
            "Lock file '" + file + "' cannot use a write-ahead log here. Use a local disk.");
      }
    }
    List<String> schema = text.schema();
    statement.execute("BEGIN IMMEDIATE");
    try {
      if (create) {
        for (String ddl : schema) {
          statement.execute(ddl);
        }
      } else if (!tablesAndIndexes(statement).contains(text.table("lock"))) {
        throw new StoreUnfitException(
            "Table '%s' is missing in lock file '%s', and create=false forbids to make it. Make the tables from %s of the jdbc module, or set prefix."
                .formatted(text.table("lock"), file, text.schemaResource()));
      }
      String version = lockRepository.facts().get("schema");
      if (version == null) {
        lockRepository.putFact("schema", VERSION, true);
      } else if (!version.equals(VERSION)) {
        throw new StoreUnfitException(
            "The tables in lock file '%s' have version %s, this Mortise needs %s. Use one release for all processes."
                .formatted(file, version, VERSION));
      }
      HostClock agreed = HostClock.agree(lockRepository, profile.display(), ticker, wall);
      statement.execute("COMMIT");
      return agreed;
    } catch (SQLException | RuntimeException e) {
      try {
        statement.execute("ROLLBACK");
      } catch (SQLException second) {
        e.addSuppressed(second);
      }
      throw e;
    }
  }

  private RuntimeException refusal(SQLException e) {
    if (lacksLibrary(e)) {
      return new StoreUnfitException(
          "Lock file '%s' cannot be opened: the SQLite driver cannot unpack or load its native library in '%s'. Name a folder in which files can be written and executed: -Dorg.sqlite.tmpdir=/path."
              .formatted(
                  file,
                  System.getProperty("org.sqlite.tmpdir", System.getProperty("java.io.tmpdir"))),
          e);
    }
    return switch (code(e)) {
      case 26, 11 ->
          new StoreUnfitException(
              "'%s' is not a SQLite database, or damaged: %s. Name another file."
                  .formatted(file, e.getMessage()),
              e);
      case 8, 14 ->
          new StoreUnfitException(
              "Lock file '" + file + "' cannot be opened for writing: " + e.getMessage() + ".", e);
      case 13 ->
          new StoreUnfitException(
              "There is no room for lock file '" + file + "'. Free space on its disk.", e);
      case 5 ->
          new StoreUnavailableException(
              "Lock file '"
                  + file
                  + "' was locked by other processes for "
                  + DurationText.format(OPENING)
                  + ". Look for one that was stopped or has a transaction open, or for very many "
                  + "that begin at one time.",
              e);
      default ->
          e.getMessage() != null && e.getMessage().contains("No suitable driver")
              ? new StoreUnfitException(
                  "There is no SQLite driver on the class path. Add org.xerial:sqlite-jdbc.", e)
              : new StoreUnavailableException(
                  "Lock file '" + file + "' cannot be used: " + e.getMessage() + ".", e);
    };
  }

  private static boolean lacksLibrary(Throwable failure) {
    for (Throwable each = failure; each != null; each = each.getCause()) {
      if (each instanceof LinkageError
          || String.valueOf(each.getMessage()).contains("native library")) {
        return true;
      }
    }
    return false;
  }

  private Connection connection() throws SQLException {
    Properties settings = new Properties();
    settings.setProperty("busy_timeout", "0");
    settings.setProperty("synchronous", "NORMAL");
    return DriverManager.getConnection(SCHEME + ":" + file, settings);
  }

  @Override
  public boolean isReplacedInPart() {
    return identity.isReplacedInPart();
  }

  @Override
  public boolean isReplaced() {
    return identity.isReplaced();
  }

  @Override
  public StoreConnection connect() throws SQLException {
    Connection connection = connection();
    try {
      return storeConnection(connection);
    } catch (SQLException | RuntimeException e) {
      connection.close();
      throw e;
    }
  }

  private StoreConnection storeConnection(Connection connection) throws SQLException {
    LockRepository lockRepository =
        new LockRepository(connection, text, namespace) {
          @Override
          public Predicate<String> disconnected(List<String> sessionIds) {
            return session -> hasEnded.test(new SessionId(session));
          }
        };
    // The first read opens the log.
    lockRepository.facts();
    identity.opened(connection);
    return new StoreConnection(connection, lockRepository, new ImmediateTransactions(connection));
  }

  /** Sets the sessions of processes that are known to have ended; none until then. */
  public void endedProcesses(Predicate<SessionId> ended) {
    hasEnded = ended;
  }

  /** Transactions that have the write lock from the start, so that none of them fails half-way. */
  private final class ImmediateTransactions implements StoreConnection.Transactions {
    private final PreparedStatement begin;
    private final PreparedStatement commit;
    private final PreparedStatement rollback;
    private boolean open;

    ImmediateTransactions(Connection connection) throws SQLException {
      begin = connection.prepareStatement("BEGIN IMMEDIATE");
      commit = connection.prepareStatement("COMMIT");
      rollback = connection.prepareStatement("ROLLBACK");
    }

    @Override
    public void begin(LockRepository.@Nullable PrefetchTarget prefetchTarget) throws SQLException {
      begin.executeUpdate();
      open = true;
    }

    @Override
    public void commit(List<SessionNotification> pendingNotifications) throws SQLException {
      commit.executeUpdate();
      open = false;
    }

    @Override
    public void rollback() throws SQLException {
      if (open) {
        open = false;
        rollback.executeUpdate();
      }
    }

    @Override
    public long now() {
      return clock.micros();
    }
  }

  @Override
  public StoreReport examine(Connection connection) throws SQLException {
    return SqliteSettingsReport.of(connection, real, clock.isMonotonic());
  }

  @Override
  public ErrorKind errorKind(SQLException error) {
    return switch (code(error)) {
      case 5, 6 -> ErrorKind.BUSY;
      case 13 -> ErrorKind.FULL;
      case 8 -> ErrorKind.READ_ONLY;
      case 11, 14, 26 -> ErrorKind.UNFIT;
      case 10 -> ErrorKind.BROKEN;
      default -> ErrorKind.UNFIT;
    };
  }

  /** The primary result code of SQLite. */
  private static int code(SQLException error) {
    return error.getErrorCode() & 0xff;
  }

  /**
   * The log begins again where it has room already, if all that is in it fits into the file. Then
   * what only changes rows may go on while the disk is full.
   */
  @Override
  public void makeRoom(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("PRAGMA wal_checkpoint(RESTART)");
    }
  }

  @Override
  public StoreProfile profile() {
    return profile;
  }

  @Override
  public boolean callerRuns() {
    return true;
  }

  @Override
  public int batch() {
    return 128;
  }
}
