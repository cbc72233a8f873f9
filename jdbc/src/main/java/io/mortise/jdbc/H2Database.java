package io.mortise.jdbc;

import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.spi.Capability;
import io.mortise.spi.StoreProfile;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.EnumSet;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * An H2 database: embedded, in memory or a server.
 *
 * <p>Each step is a transaction under the lock's row ({@code FOR UPDATE}, READ COMMITTED). Its time
 * is that of the database at the beginning of the transaction, hence perhaps a little before it got
 * the row. Steps run on threads of ours only: H2 closes the file of a thread that is interrupted.
 */
final class H2Database implements Database {
  static final String SCHEME = "jdbc:h2";

  private static final String VERSION = "1";

  private final Source source;
  private final SqlText text;
  private final String namespace;
  private final StoreProfile profile;

  /**
   * The connection of the checks, which the first lane takes over: a database in memory lives as
   * long as one is open.
   */
  private final AtomicReference<@Nullable Connection> spare = new AtomicReference<>();

  /** Gives connections. */
  @FunctionalInterface
  interface Source {
    Connection connect() throws SQLException;
  }

  H2Database(Source source, String display, SqlText text, String namespace, Duration maxInFlight) {
    this.source = source;
    this.text = text;
    this.namespace = namespace;
    this.profile =
        new StoreProfile(
            display,
            EnumSet.allOf(Capability.class),
            maxInFlight,
            Duration.ofMillis(200),
            Duration.ofMillis(20));
  }

  /** Checks the database, and makes the tables if they are missing. Blocks. */
  H2Database prepare(boolean create) {
    Connection connection = null;
    try {
      connection = connection();
      check(connection, create);
      spare.set(connection);
      return this;
    } catch (SQLException | RuntimeException e) {
      RuntimeException refusal =
          e instanceof SQLException sql ? refusal(sql) : (RuntimeException) e;
      if (connection != null) {
        try {
          connection.close();
        } catch (SQLException second) {
          refusal.addSuppressed(second);
        }
      }
      throw refusal;
    }
  }

  private void check(Connection connection, boolean create) throws SQLException {
    String product = connection.getMetaData().getDatabaseProductName();
    if (!product.equals("H2") || connection.getMetaData().getDatabaseMajorVersion() < 2) {
      throw new StoreUnfitException(
          "Store '"
              + profile.display()
              + "' is "
              + product
              + " "
              + connection.getMetaData().getDatabaseProductVersion()
              + ". Expected H2 2.0 or later.");
    }
    if (create) {
      try (Statement statement = connection.createStatement()) {
        for (String ddl : text.schema()) {
          make(statement, ddl);
        }
      }
    }
    Sql sql = new Sql(connection, text.statement("check")).set("table_name", text.table("lock"));
    try (ResultSet row = sql.query()) {
      if (!row.next()) {
        throw missing();
      }
      if (!row.getString(1).equals("CHARACTER VARYING") || row.getInt(2) != 0) {
        throw new StoreUnfitException(
            "Store '"
                + profile.display()
                + "' does not tell upper from lower case, or ignores accents, so that two lock names "
                + "would be one. Use a database without IGNORECASE and COLLATION.");
      }
    }
    checkVersion(connection);
    connection.commit();
  }

  private static void make(Statement statement, String ddl) throws SQLException {
    try {
      statement.execute(ddl);
    } catch (SQLException e) {
      // Another process made the same at this moment.
      statement.execute(ddl);
    }
  }

  private void checkVersion(Connection connection) throws SQLException {
    Rows rows = new Rows(connection, text, namespace);
    if (rows.facts().isEmpty()) {
      try {
        rows.putFact("schema", VERSION, true);
        connection.commit();
      } catch (SQLException e) {
        // Another process wrote the same at this moment; the next lines will see it.
        connection.rollback();
      }
    }
    String version = rows.facts().get("schema");
    if (!VERSION.equals(version)) {
      throw new StoreUnfitException(
          "The tables '"
              + text.table("…")
              + "' in store '"
              + profile.display()
              + "' have version "
              + version
              + ", this Mortise needs "
              + VERSION
              + ". Use one release for all processes.");
    }
  }

  private StoreUnfitException missing() {
    return new StoreUnfitException(
        "Table '"
            + text.table("lock")
            + "' is missing in store '"
            + profile.display()
            + "', and create=false forbids to make it. Make the tables from "
            + "META-INF/mortise/h2/schema.sql of the jdbc module, or set prefix.");
  }

  private RuntimeException refusal(SQLException e) {
    String store = "Store '" + profile.display() + "'";
    return switch (e.getErrorCode()) {
      case 28000, 90096 ->
          new StoreUnfitException(
              store + " does not let this user in, or not make tables. Check user and rights.", e);
      case 90013, 90146, 90149 ->
          new StoreUnfitException(store + " does not exist. Make the database first.", e);
      case 90097 -> new StoreUnfitException(store + " is read-only. A lock needs to write.", e);
      case 90020 ->
          new StoreUnavailableException(
              store
                  + " is open in another process. Close it there, or use an H2 server or AUTO_SERVER=TRUE.",
              e);
      default ->
          e.getMessage() != null && e.getMessage().contains("No suitable driver")
              ? new StoreUnfitException(
                  "There is no H2 driver on the class path. Add com.h2database:h2.", e)
              : new StoreUnavailableException(store + " cannot be used: " + e.getMessage(), e);
    };
  }

  private Connection connection() throws SQLException {
    Connection connection = source.connect();
    try (Statement statement = connection.createStatement()) {
      connection.setAutoCommit(false);
      connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
      // Half of what a request may take, so that the last try ends in time.
      long half = profile.maxInFlight().toMillis() / 2;
      statement.execute("SET LOCK_TIMEOUT " + half);
      statement.execute("SET QUERY_TIMEOUT " + half);
      connection.commit();
      return connection;
    } catch (SQLException e) {
      connection.close();
      throw e;
    }
  }

  @Override
  public Link connect() throws SQLException {
    Connection checked = spare.getAndSet(null);
    Connection connection = checked != null ? checked : connection();
    return new Link(connection, text, namespace, new Plain(connection, text));
  }

  @Override
  public void close() {
    Connection unused = spare.getAndSet(null);
    if (unused != null) {
      try {
        unused.close();
      } catch (SQLException e) {
        throw new StoreUnavailableException(
            "Store '" + profile.display() + "' could not be closed: " + e.getMessage(), e);
      }
    }
  }

  private static final class Plain implements Link.Transactions {
    private final Connection connection;
    private final PreparedStatement now;

    Plain(Connection connection, SqlText text) throws SQLException {
      this.connection = connection;
      this.now = connection.prepareStatement(text.statement("now").sql());
    }

    @Override
    public void begin() {}

    @Override
    public void commit() throws SQLException {
      connection.commit();
    }

    @Override
    public void rollback() throws SQLException {
      connection.rollback();
    }

    @Override
    public long now() throws SQLException {
      try (ResultSet row = now.executeQuery()) {
        row.next();
        return row.getLong(1);
      }
    }
  }

  @Override
  public Trouble trouble(SQLException error) {
    String state = error.getSQLState();
    if (state != null && state.startsWith("08")) {
      return Trouble.BROKEN;
    }
    return switch (error.getErrorCode()) {
      // Concurrent update, deadlock, lock timeout, query timeout, two first inserts of one row.
      case 90131, 40001, 50200, 57014, 23505 -> Trouble.BUSY;
      // Rights, read-only, tables gone.
      case 90096, 90097, 42102, 42103, 42104 -> Trouble.UNFIT;
      // Data of a wrong form: a bug, but no reason to drop the connection.
      case 22001, 22003, 22018, 42000, 42122 -> Trouble.UNFIT;
      default -> Trouble.BROKEN;
    };
  }

  @Override
  public StoreProfile profile() {
    return profile;
  }

  @Override
  public boolean callerRuns() {
    return false;
  }

  @Override
  public int batch() {
    return 1;
  }
}
