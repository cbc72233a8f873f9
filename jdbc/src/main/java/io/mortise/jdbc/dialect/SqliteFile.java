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
import io.mortise.spi.time.Ticker;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
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
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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

  private static final Logger log = LoggerFactory.getLogger(SqliteFile.class);

  private static final Duration MAX_IN_FLIGHT = Duration.ofSeconds(5);

  /**
   * How long to wait for another process that makes the tables. With fifty others that begin on two
   * processors it needs some seconds.
   */
  private static final Duration OPENING = Duration.ofSeconds(30);

  /** For how long one look at the file is good. */
  private static final long LOOK_NANOS = 1_000_000;

  private static final String VERSION = "1";

  /** Why a file must not have a second name, and what to do. */
  static final String ONE_NAME =
      "Processes that open it by different names do not see each other's locks. Use one name for "
          + "all; into a container, mount the folder and not the file.";

  private static final Set<String> NETWORK =
      Set.of(
          "9p",
          "afs",
          "beegfs",
          "ceph",
          "cifs",
          "davfs",
          "gcsfuse",
          "glusterfs",
          "gpfs",
          "lustre",
          "ncpfs",
          "rclone",
          "s3fs",
          "sshfs",
          "virtiofs");

  private final Path file;
  private final Path real;

  /** Which file it is, whatever its name; null if the file system does not tell. */
  private final @Nullable Object key;

  private final SqlText text;
  private final String namespace;
  private final StoreProfile profile;
  private final Ticker ticker;
  private final InstantSource wall;
  private final HostClock clock;
  private volatile Predicate<SessionId> hasEnded = session -> false;

  /** Which files each open connection has its log in. */
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
    this.lookedAt = ticker.nanos() - LOOK_NANOS;
    this.clock = prepare(create);
    this.key = keyOnceOpen();
  }

  private @Nullable Object keyOnceOpen() {
    try {
      // Once more: a link that was made before the file was opened is seen by now.
      refuseSecondName(real);
      return keyOf(real);
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
          "Store URL '"
              + url
              + "' names no plain file. Write jdbc:sqlite:/path/to/locks.db; a database in memory is mem:.");
    }
    Path file;
    try {
      file = Path.of(name).toAbsolutePath().normalize();
    } catch (InvalidPathException e) {
      throw new IllegalArgumentException(
          "Store URL '" + url + "' names no file: " + e.getMessage(), e);
    }
    return new SqliteFile(file, makeFile(file, create), text, namespace, create, ticker, wall);
  }

  /** The path without links, which is the same whatever name it was opened by. */
  public Path realPath() {
    return real;
  }

  /** Returns its real path. */
  private static Path makeFile(Path file, boolean create) {
    Path directory = file.getParent();
    if (directory == null || Files.isDirectory(file)) {
      throw new StoreUnfitException("'" + file + "' is a directory. Name a file in it.");
    }
    try {
      if (!Files.isDirectory(directory)) {
        Path above = directory.getParent();
        if (!create || above == null || !Files.isDirectory(above)) {
          throw new StoreUnfitException(
              "Directory '" + directory + "' for the lock file does not exist. Make it first.");
        }
        createIfMissing(() -> Files.createDirectory(directory, rights(directory, "rwx------")));
        log.warn(
            "Made directory '{}' for lock file '{}'. If a disk should have been mounted there, end this "
                + "process and mount it: others would use another file",
            directory,
            file);
      }
      refuseNetwork(Files.getFileStore(directory), file);
      if (!Files.exists(file)) {
        if (!create) {
          throw new StoreUnfitException(
              "Lock file '"
                  + file
                  + "' does not exist, and create=false forbids to make it. Make it from "
                  + "META-INF/mortise/sqlite/schema.sql of the jdbc module, or leave create=false out.");
        }
        createIfMissing(() -> Files.createFile(file, rights(directory, "rw-------")));
      }
      if (!Files.isWritable(file) || !Files.isWritable(directory)) {
        throw new StoreUnfitException(
            "Lock file '"
                + file
                + "' or its directory is read-only for this process. A lock needs to write both.");
      }
      Path real = file.toRealPath();
      refuseSecondName(real);
      return real;
    } catch (IOException e) {
      throw new StoreUnfitException(
          "Lock file '" + file + "' cannot be made or reached: " + e + ".", e);
    }
  }

  private interface FileCreation {
    void make() throws IOException;
  }

  private static void createIfMissing(FileCreation fileCreation) throws IOException {
    try {
      fileCreation.make();
    } catch (FileAlreadyExistsException e) {
      // Another process was faster.
    }
  }

  private static FileAttribute<?>[] rights(Path near, String rights) {
    return near.getFileSystem().supportedFileAttributeViews().contains("posix")
        ? new FileAttribute<?>[] {
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(rights))
        }
        : new FileAttribute<?>[0];
  }

  private static void refuseNetwork(FileStore store, Path file) {
    if (isNetwork(store.type()) || file.toString().startsWith("\\\\")) {
      throw new StoreUnfitException(
          "Lock file '"
              + file
              + "' lies on a network or shared file system ("
              + store.type()
              + "), where SQLite's locks do not hold between machines. Use a local disk, or a store "
              + "that is a server.");
    }
  }

  private static void refuseSecondName(Path real) throws IOException {
    String second = FileAliasCheck.of(real);
    if (second != null) {
      throw new StoreUnfitException("Lock file '" + real + "' " + second + ". " + ONE_NAME);
    }
  }

  /** Whether a type of file system may be shared with another machine. */
  public static boolean isNetwork(String type) {
    String lower = type.toLowerCase(Locale.ROOT);
    String kind = lower.startsWith("fuse.") ? lower.substring(5) : lower;
    return kind.startsWith("nfs") || kind.startsWith("smb") || NETWORK.contains(kind);
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

  private boolean isMade(Statement statement) throws SQLException {
    Set<String> names = new HashSet<>();
    try (ResultSet row = statement.executeQuery("SELECT name FROM sqlite_master")) {
      while (row.next()) {
        names.add(row.getString(1));
      }
    }
    if (!names.containsAll(text.schemaNames())) {
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
      } else {
        requireTable(statement);
      }
      String version = lockRepository.facts().get("schema");
      if (version == null) {
        lockRepository.putFact("schema", VERSION, true);
      } else if (!version.equals(VERSION)) {
        throw new StoreUnfitException(
            "The tables in lock file '"
                + file
                + "' have version "
                + version
                + ", this Mortise needs "
                + VERSION
                + ". Use one release for all processes.");
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

  private void requireTable(Statement statement) throws SQLException {
    try (ResultSet row =
        statement.executeQuery(
            "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '"
                + text.table("lock")
                + "'")) {
      if (!row.next()) {
        throw new StoreUnfitException(
            "Table '"
                + text.table("lock")
                + "' is missing in lock file '"
                + file
                + "', and create=false forbids to make it. Make the tables from "
                + "META-INF/mortise/sqlite/schema.sql of the jdbc module, or set prefix.");
      }
    }
  }

  private RuntimeException refusal(SQLException e) {
    return switch (code(e)) {
      case 26, 11 ->
          new StoreUnfitException("'" + file + "' is not a SQLite database. Name another file.", e);
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
                  + OPENING.toSeconds()
                  + " s. Look for one that was stopped or has a transaction open, or for very many "
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

  private Connection connection() throws SQLException {
    Properties settings = new Properties();
    settings.setProperty("busy_timeout", "0");
    settings.setProperty("synchronous", "NORMAL");
    return DriverManager.getConnection(SCHEME + ":" + file, settings);
  }

  private static @Nullable Object keyOf(Path file) throws IOException {
    return Files.readAttributes(file, BasicFileAttributes.class).fileKey();
  }

  /**
   * As long as a connection is open, SQLite removes neither file; so whoever has done it has split
   * the locks of those who opened the database before from all that come.
   */
  @Override
  public boolean isReplacedInPart() {
    WriteAheadLog now = writeAheadLog();
    writeAheadLogs.keySet().removeIf(SqliteFile::isClosed);
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
  @Override
  public boolean isReplaced() {
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
    writeAheadLogs.put(connection, writeAheadLog());
    return new StoreConnection(connection, lockRepository, new ImmediateTransactions(connection));
  }

  /** Which sessions are known to be of processes that have ended; none until this is called. */
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
      case 8, 11, 14, 26 -> ErrorKind.UNFIT;
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
