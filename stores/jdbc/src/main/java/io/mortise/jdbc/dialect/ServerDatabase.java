package io.mortise.jdbc.dialect;

import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.jdbc.dialect.ConnectedServers.DatabaseIdentity;
import io.mortise.jdbc.notify.NotificationListener;
import io.mortise.jdbc.notify.NotifiedSession;
import io.mortise.jdbc.table.ConnectionState;
import io.mortise.jdbc.table.Database;
import io.mortise.jdbc.table.LockRepository;
import io.mortise.jdbc.table.NamedStatement;
import io.mortise.jdbc.table.SqlText;
import io.mortise.jdbc.table.StoreConnection;
import io.mortise.spi.Capability;
import io.mortise.spi.SessionId;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.StoreReport;
import io.mortise.spi.time.Ticker;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A database that serves many connections, of any product that has a {@link Dialect}.
 *
 * <p>An uncontended acquire or release is one statement that commits by itself; every other step is
 * a transaction under the lock's row ({@code FOR UPDATE}, READ COMMITTED). Steps run on threads of
 * ours only.
 */
public final class ServerDatabase implements Database {
  private static final Logger log = LoggerFactory.getLogger(ServerDatabase.class);

  private static final String VERSION = "1";
  private static final List<String> TABLES =
      List.of("meta", "session", "lock", "hold", "wait", "news");

  /** Several processes may make the tables at one time; all but one fail half-way and try again. */
  private static final int TRIES = 10;

  /** Others use the pooler too, and may get in between. */
  private static final int POOLER_LOOKS = 3;

  private final Dialect dialect;
  private final ConnectionSource source;
  private final SqlText text;
  private final String namespace;
  private final StoreProfile profile;
  private final String store;
  private final boolean borrows;
  private final DatabaseRefusal refusal;
  private volatile Predicate<SessionId> isLocal = session -> false;

  /** The connection of the checks, which the first executor takes over. */
  private final AtomicReference<@Nullable CheckedConnection> spare = new AtomicReference<>();

  private final ConnectedServers connectedServers;
  private final AtomicInteger demotions = new AtomicInteger();

  /** Whether a first connection was good. */
  private volatile boolean isKnown;

  /** The last thing that was said of the server's settings, which is told once. */
  private final AtomicReference<String> warning = new AtomicReference<>("");

  /**
   * A connection that was set up.
   *
   * @param before how a pool's was; null if it is ours
   */
  private record CheckedConnection(Connection connection, @Nullable ConnectionState before) {}

  /** Gives connections. */
  @FunctionalInterface
  public interface ConnectionSource {
    Connection connect() throws SQLException;
  }

  /**
   * A database that was not looked at yet.
   *
   * @param borrows whether the source is a pool of the user
   */
  public ServerDatabase(
      Dialect dialect,
      ConnectionSource source,
      boolean borrows,
      String display,
      String prefix,
      String namespace,
      Duration maxInFlight) {
    this.dialect = dialect;
    this.source = source;
    this.borrows = borrows;
    this.text = new SqlText(dialect.folders(), prefix);
    this.namespace = namespace;
    this.store = "Store '" + display + "'";
    this.connectedServers = new ConnectedServers(store);
    this.refusal = new DatabaseRefusal(store, dialect, text);
    Set<Capability> capabilities = EnumSet.allOf(Capability.class);
    if (!dialect.hasConnectionLocks()) {
      capabilities.remove(Capability.SKIPS_DISCONNECTED);
    }
    this.profile =
        new StoreProfile(
            display, capabilities, maxInFlight, Duration.ofMillis(200), Duration.ofMillis(20));
  }

  /** Checks the database, and makes the tables if they are missing. Blocks. */
  public ServerDatabase prepare(boolean create) {
    CheckedConnection checkedConnection = null;
    try {
      checkedConnection = take();
      dialect.check(checkedConnection.connection(), store);
      checkTables(checkedConnection.connection(), create);
      spare.set(checkedConnection);
      return this;
    } catch (SQLException | RuntimeException e) {
      RuntimeException refused =
          e instanceof SQLException failed ? refusal.of(failed) : (RuntimeException) e;
      if (checkedConnection != null) {
        try {
          giveBack(checkedConnection);
        } catch (SQLException second) {
          refused.addSuppressed(second);
        }
      }
      throw refused;
    }
  }

  private void checkTables(Connection connection, boolean create) throws SQLException {
    LockRepository lockRepository = new LockRepository(connection, text, namespace);
    for (int tries = 1; ; tries++) {
      try {
        boolean there = isThere(connection, "meta") && isThere(connection, "lock");
        if (!there && !create) {
          throw missing();
        }
        // Checked first: a user of the tables may lack the right to create them.
        if (!there || lockRepository.facts().isEmpty()) {
          make(connection, lockRepository, create);
        } else if (create && !isThere(connection, "fact")) {
          makeLater(connection);
        }
        break;
      } catch (SQLException e) {
        // On a connection that is gone another try would only say so, and hide why it is.
        boolean gone = connection.isClosed();
        if (gone || tries == TRIES || dialect.reason(e) != Dialect.UnfitReason.OTHER) {
          throw e;
        }
      }
    }
    Map<String, String> facts = lockRepository.facts();
    checkVersion(String.valueOf(facts.get("schema")));
    if (create) {
      ConnectedServers.identifyTables(lockRepository, facts, dialect);
    }
  }

  private boolean areAllThere(Connection connection) throws SQLException {
    for (String table : TABLES) {
      if (!isThere(connection, table)) {
        return false;
      }
    }
    return true;
  }

  private boolean isThere(Connection connection, String table) throws SQLException {
    NamedStatement namedStatement =
        new NamedStatement(connection, text.statement("check"))
            .set("table_name", text.table(table));
    try (namedStatement;
        ResultSet row = namedStatement.query()) {
      boolean there = row.next();
      if (there && row.getInt(1) == 0) {
        throw new StoreUnfitException(
            store
                + " does not tell upper from lower case, or ignores accents or blanks at the end, so that "
                + "two lock names would be one. Use a database without such a collation, or make the tables from "
                + text.schemaResource()
                + ".");
      }
      if (there && row.getInt(1) < 0) {
        throw new StoreUnfitException(
            "%s keeps table '%s' in an engine without transactions. Make the tables from %s."
                .formatted(store, text.table(table), text.schemaResource()));
      }
      return there;
    }
  }

  /** Makes a table that earlier tables lack, if this user may; recipes tell that it is missing. */
  private void makeLater(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      for (String ddl : text.schema()) {
        statement.execute(ddl);
      }
    } catch (SQLException e) {
      if (dialect.reason(e) != Dialect.UnfitReason.NO_RIGHT) {
        throw e;
      }
    }
  }

  private void make(Connection connection, LockRepository lockRepository, boolean create)
      throws SQLException {
    if (create) {
      try (Statement statement = connection.createStatement()) {
        for (String ddl : text.schema()) {
          statement.execute(ddl);
        }
      } catch (SQLException e) {
        // Somebody else has made them from the file, and lets this user do no more than use them.
        if (dialect.reason(e) != Dialect.UnfitReason.NO_RIGHT || !areAllThere(connection)) {
          throw e;
        }
      }
    }
    // The last step, so that its absence tells of tables that are not complete.
    if (lockRepository.facts().isEmpty()) {
      lockRepository.putFact("schema", VERSION, true);
    }
  }

  private void checkVersion(String version) {
    if (!VERSION.equals(version)) {
      throw new StoreUnfitException(
          "The tables '"
              + text.table("…")
              + "' in "
              + store
              + " have version "
              + version
              + ", this Mortise needs "
              + VERSION
              + ". Use one release for all processes. To move: stop them all, bring the tables up to "
              + "date as the changelog says, or drop them and have them made anew.");
    }
  }

  private StoreUnfitException missing() {
    return new StoreUnfitException(
        "Table '%s' is missing in %s, and create=false forbids to make it. Make the tables from %s of the jdbc module, or set prefix."
            .formatted(text.table("lock"), store, text.schemaResource()));
  }

  private CheckedConnection take() throws SQLException {
    Connection connection = connection();
    try {
      ConnectionState before = borrows ? ConnectionState.of(connection) : null;
      connection.setAutoCommit(true);
      if (before != null && before.readOnly()) {
        connection.setReadOnly(false);
      }
      if (!isKnown) {
        refuseShared(connection);
      }
      dialect.setUp(connection, store, profile.maxInFlight()).ifPresent(this::warn);
      isKnown = true;
      return new CheckedConnection(connection, before);
    } catch (SQLException | RuntimeException e) {
      discard(connection, e);
      throw e;
    }
  }

  /** A pool's is cut: it would lend one again that leads to a server which is of no use. */
  private void discard(Connection connection, Exception failure) {
    try (connection) {
      if (borrows) {
        connection.abort(Runnable::run);
      }
    } catch (SQLException second) {
      failure.addSuppressed(second);
    }
  }

  /**
   * Refuses a pooler that was not declared and gives out server connections per transaction, before
   * anything is set that others would meet: two connections then lead to one of the server.
   */
  private void refuseShared(Connection first) throws SQLException {
    if (!dialect.isProxied(first)) {
      return;
    }
    try (Connection second = connection()) {
      second.setAutoCommit(true);
      String id = dialect.connectionId(first);
      for (int i = 0; i < POOLER_LOOKS; i++) {
        if (dialect.connectionId(second).equals(id) || !dialect.connectionId(first).equals(id)) {
          throw refusal.pooled();
        }
      }
    }
  }

  private void warn(String text) {
    if (!text.equals(warning.getAndSet(text))) {
      log.warn("{} {}", store, text);
    }
  }

  @Override
  public StoreConnection connect() throws SQLException {
    CheckedConnection checked = spare.getAndSet(null);
    CheckedConnection taken = checked != null ? checked : take();
    StoreConnection made = storeConnection(taken);
    try {
      String query = text.statement("identity").sql();
      connectedServers.add(made, DatabaseIdentity.of(taken.connection(), query));
      return made;
    } catch (SQLException | RuntimeException e) {
      try (made) {
        // Of a pool it is cut.
        throw e;
      }
    }
  }

  /** A pool gets it as it was. */
  private void giveBack(CheckedConnection unused) throws SQLException {
    if (!borrows) {
      unused.connection().close();
      return;
    }
    try (StoreConnection storeConnection = storeConnection(unused)) {
      storeConnection.detach();
    }
  }

  @Override
  public boolean borrows() {
    return borrows;
  }

  private StoreConnection storeConnection(CheckedConnection checkedConnection) throws SQLException {
    try {
      StoreConnection storeConnection =
          dialect.storeConnection(
              checkedConnection.connection(), text, namespace, id -> isLocal.test(id));
      if (checkedConnection.before() != null) {
        storeConnection.borrowed(checkedConnection.before());
      }
      return storeConnection;
    } catch (SQLException | RuntimeException e) {
      discard(checkedConnection.connection(), e);
      throw e;
    }
  }

  @Override
  public void close() {
    CheckedConnection unused = spare.getAndSet(null);
    if (unused != null) {
      try {
        giveBack(unused);
      } catch (SQLException e) {
        throw new StoreUnavailableException(store + " could not be closed: " + e.getMessage(), e);
      }
    }
  }

  @Override
  public StoreReport examine(Connection connection) throws SQLException {
    return dialect.examine(connection);
  }

  @Override
  public ErrorKind errorKind(SQLException error) {
    return dialect.errorKind(error);
  }

  @Override
  public boolean isDenied(SQLException error) {
    return dialect.reason(error) == Dialect.UnfitReason.NO_RIGHT;
  }

  @Override
  public void demoted() {
    demotions.incrementAndGet();
  }

  @Override
  public int demotions() {
    return demotions.get();
  }

  @Override
  public boolean isFull(SQLException error) {
    return dialect.reason(error) == Dialect.UnfitReason.TOO_MANY_CONNECTIONS;
  }

  @Override
  public Optional<String> advice(SQLException error) {
    Dialect.UnfitReason reason = dialect.reason(error);
    return DatabaseRefusal.isAtTheDoor(reason) || reason == Dialect.UnfitReason.POOLED
        ? Optional.ofNullable(refusal.of(error).getMessage())
        : Optional.empty();
  }

  @Override
  public StoreProfile profile() {
    return profile;
  }

  /** Half of a request's time limit: the last try may take the other half. */
  @Override
  public Duration retryTimeout() {
    return profile.maxInFlight().dividedBy(2);
  }

  @Override
  public Duration idleLimit() {
    return dialect.idleLimit();
  }

  /** How often to look for notifications of an attempt whose turn is next. */
  public Duration poll() {
    return dialect.poll();
  }

  @Override
  public boolean callerRuns() {
    return false;
  }

  /** The drivers read from a plain socket, which an interrupt does not touch. */
  @Override
  public boolean callerHelps() {
    return true;
  }

  @Override
  public int batch() {
    return dialect.batch();
  }

  @Override
  public int deferredBatch() {
    return dialect.deferredBatch();
  }

  /**
   * How the server wakes this process; null if it cannot.
   *
   * @param sessions those of this process
   * @param look has the notifications read at once
   */
  public @Nullable NotificationListener listener(
      Ticker ticker,
      Map<SessionId, ? extends NotifiedSession> sessions,
      NotificationListener.NotificationSender notificationSender,
      Runnable look) {
    return dialect.listener(this, ticker, sessions, notificationSender, look);
  }

  /** A new connection that nothing was done to. */
  Connection connection() throws SQLException {
    return source.connect();
  }

  /**
   * Sets the sessions of this process, which need no notification by the server; none until then.
   */
  public void localSessions(Predicate<SessionId> local) {
    isLocal = local;
  }
}
