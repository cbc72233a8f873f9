package io.mortise.jdbc.dialect;

import io.mortise.StoreUnfitException;
import io.mortise.jdbc.batch.BlockedRowQueue;
import io.mortise.jdbc.driver.DriverSocketFactory;
import io.mortise.jdbc.driver.EagerSocketFactory;
import io.mortise.jdbc.notify.NotificationListener;
import io.mortise.jdbc.notify.NotifiedSession;
import io.mortise.jdbc.table.Database.ErrorKind;
import io.mortise.jdbc.table.NamedStatement;
import io.mortise.jdbc.table.PostgresTransactions;
import io.mortise.jdbc.table.SqlText;
import io.mortise.jdbc.table.StoreConnection;
import io.mortise.spi.SessionId;
import io.mortise.spi.StoreReport;
import io.mortise.spi.StoreUrl;
import io.mortise.spi.time.Ticker;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * PostgreSQL from version 12.
 *
 * <p>Time is {@code clock_timestamp()} inside the statements. A wait for a row is short ({@link
 * BlockedRowQueue#LOCK_WAIT}) and then tried again, so that a row which somebody else keeps locked
 * holds up nobody for long; the server itself ends a statement, and a transaction that its process
 * has forgotten.
 */
public final class PostgresDialect implements Dialect {
  private static final Logger log = LoggerFactory.getLogger(PostgresDialect.class);

  private static final int OLDEST = 12;

  private static final SqlText TEXT = new SqlText("postgresql", SqlText.DEFAULT_PREFIX);

  /** Of each transaction, if a pooler stands before the server; null if the connection has them. */
  private final @Nullable PostgresTimeouts pooled;

  public PostgresDialect() {
    this(null);
  }

  private PostgresDialect(@Nullable PostgresTimeouts pooled) {
    this.pooled = pooled;
  }

  @Override
  public Dialect behindPooler(Duration maxInFlight) {
    return new PostgresDialect(PostgresTimeouts.within(maxInFlight));
  }

  @Override
  public String folder() {
    return "postgresql";
  }

  @Override
  public String product() {
    return "PostgreSQL";
  }

  @Override
  public String driver() {
    return "org.postgresql:postgresql";
  }

  @Override
  public Set<String> driverParameters() {
    return Set.of(
        "ApplicationName",
        "channelBinding",
        "connectTimeout",
        "currentSchema",
        "gssEncMode",
        "hostRecheckSeconds",
        "loadBalanceHosts",
        "ssl",
        "sslcert",
        "sslfactory",
        "sslkey",
        "sslmode",
        "sslnegotiation",
        "sslpassword",
        "sslrootcert",
        "targetServerType",
        "tcpKeepAlive");
  }

  @Override
  public ConnectionTarget target(StoreUrl url, Duration maxInFlight) {
    String base = url.base();
    if (base.indexOf('@') >= 0) {
      throw new IllegalArgumentException(
          "Store URL '%s' has a user in front of the host, which the driver does not know. Write ?user=…&password=…."
              .formatted(url));
    }
    Properties properties = new Properties();
    properties.setProperty("ApplicationName", "mortise");
    properties.setProperty("prepareThreshold", pooled == null ? "1" : "0");
    properties.setProperty("tcpKeepAlive", "true");
    // In whole seconds; a dead link is noticed within the time that a request may take.
    String seconds = Long.toString(Math.max(1, maxInFlight.toSeconds()));
    properties.setProperty("connectTimeout", seconds);
    properties.setProperty("socketTimeout", seconds);
    if (DriverSocketFactory.isSeen(EagerSocketFactory.class, "org.postgresql.Driver")) {
      properties.setProperty("socketFactory", EagerSocketFactory.class.getName());
    }
    if (base.indexOf(',') >= 0) {
      properties.setProperty("targetServerType", "primary");
      // The driver's 10 s, for which a promoted host stays a standby to it, cost leases.
      properties.setProperty("hostRecheckSeconds", "1");
    }
    return new ConnectionTarget(base, properties, base);
  }

  @Override
  public void check(Connection connection, String store) throws SQLException {
    if (connection.getMetaData().getDatabaseMajorVersion() < OLDEST) {
      throw new StoreUnfitException(
          "%s is PostgreSQL %s. Expected version %s or later."
              .formatted(store, connection.getMetaData().getDatabaseProductVersion(), OLDEST));
    }
  }

  /** A pooler tells the driver of a process that the server does not have. */
  @Override
  public boolean isProxied(Connection connection) throws SQLException {
    PostgresDriver driver = PostgresDriver.find();
    int backend = pooled != null || driver == null ? 0 : driver.backend(connection);
    return backend != 0 && !connectionId(connection).equals(Integer.toString(backend));
  }

  /** In a transaction: a connection of a pool that is refused goes back as it was. */
  @Override
  public Optional<String> setUp(Connection connection, String store, Duration maxInFlight)
      throws SQLException {
    connection.setAutoCommit(false);
    try {
      Optional<String> warning = set(connection, store, maxInFlight);
      connection.commit();
      connection.setAutoCommit(true);
      return warning;
    } catch (SQLException | RuntimeException e) {
      try {
        connection.rollback();
        connection.setAutoCommit(true);
      } catch (SQLException second) {
        e.addSuppressed(second);
      }
      throw e;
    }
  }

  private Optional<String> set(Connection connection, String store, Duration maxInFlight)
      throws SQLException {
    NamedStatement namedStatement =
        new NamedStatement(connection, TEXT.statement(pooled == null ? "setup" : "setup_pooled"));
    try (namedStatement;
        ResultSet row = PostgresTimeouts.within(maxInFlight).set(namedStatement).query()) {
      row.next();
      if (row.getBoolean(1)) {
        throw StoreUnfitException.notWritable(
            store
                + " is a standby. A lock needs to write: name the primary, or all hosts with a comma between.");
      }
      if (row.getBoolean(2)) {
        throw StoreUnfitException.notWritable(
            store
                + " is read-only for this user (default_transaction_read_only). A lock needs to write.");
      }
      if (pooled != null && row.getBoolean(4)) {
        throw new StoreUnfitException(
            store
                + " has another default_transaction_isolation than 'read committed', which cannot be changed behind a pooler.");
      }
      return row.getBoolean(3)
          ? Optional.of("runs with fsync=off: a crash of its host may forget or break all locks")
          : Optional.empty();
    }
  }

  /**
   * Limits of a wait for a row, and of a statement or a pause within a transaction, in ms; and the
   * silence after which the server probes the client, in s.
   */
  private record PostgresTimeouts(long row, long statement, long keepalive) {
    /** A quarter for a statement, so that a step of two, tried for the last time, ends in time. */
    static PostgresTimeouts within(Duration maxInFlight) {
      long quarter = maxInFlight.toMillis() / 4;
      return new PostgresTimeouts(
          Math.min(BlockedRowQueue.LOCK_WAIT.toMillis(), quarter),
          quarter,
          Math.max(1, maxInFlight.toSeconds()));
    }

    NamedStatement set(NamedStatement namedStatement) throws SQLException {
      return namedStatement
          .set("lock_timeout", Long.toString(row))
          .set("statement_timeout", Long.toString(statement))
          .set("idle_timeout", Long.toString(statement))
          .set("transaction_timeout", Long.toString(2 * statement))
          .set("keepalive", Long.toString(keepalive));
    }
  }

  @Override
  public StoreConnection storeConnection(
      Connection connection, SqlText text, String namespace, Predicate<SessionId> isLocal)
      throws SQLException {
    PostgresDriver driver = PostgresDriver.find();
    int backend = pooled != null || driver == null ? 0 : driver.backend(connection);
    NamedStatement opening =
        pooled == null
            ? null
            : pooled.set(new NamedStatement(connection, TEXT.statement("begin_pooled")));
    return PostgresTransactions.connection(
        connection, text, namespace, isLocal, opening, backend, mayAsk(connection));
  }

  private static boolean mayAsk(Connection connection) throws SQLException {
    try (NamedStatement asking = new NamedStatement(connection, TEXT.statement("may_ask"))) {
      boolean may = Boolean.TRUE.equals(asking.first(row -> row.getBoolean(1)));
      if (!may) {
        log.info("No right to try advisory locks, so that a waiter that is killed is waited for");
      }
      return may;
    }
  }

  @Override
  public @Nullable NotificationListener listener(
      ServerDatabase server,
      Ticker ticker,
      Map<SessionId, ? extends NotifiedSession> sessions,
      NotificationListener.NotificationSender notificationSender,
      Runnable look) {
    PostgresDriver driver = PostgresDriver.find();
    String display = server.profile().display();
    if (pooled != null) {
      log.info("{}: no notifications through a pooler; waiters are woken by polling", display);
      return null;
    } else if (driver == null) {
      log.info(
          "{}: not the driver that tells notifications; waiters are woken by polling", display);
      return null;
    }
    return new PostgresListener(driver, server, ticker, sessions, notificationSender, look);
  }

  /** The driver has to tell whether the server itself is at the other end. */
  @Override
  public boolean hasConnectionLocks() {
    return pooled == null && PostgresDriver.find() != null;
  }

  /** Measured: no faster with more, and a smaller one waits for more commits. */
  @Override
  public int batch() {
    return 128;
  }

  /** Some 15 ms of the server. More pays no more. */
  @Override
  public int deferredBatch() {
    return 1024;
  }

  @Override
  public StoreReport examine(Connection connection) throws SQLException {
    return PostgresSettingsReport.of(connection, pooled != null);
  }

  @Override
  public ErrorKind errorKind(SQLException error) {
    String state = error.getSQLState();
    if (state == null || state.length() != 5) {
      return ErrorKind.BROKEN;
    }
    return switch (state) {
      // Serialization, deadlock, row locked, statement timeout, two first inserts of one row.
      case "40001", "40P01", "55P03", "57014", "23505" -> ErrorKind.BUSY;
      case "53100" -> ErrorKind.FULL;
      case "25006" -> ErrorKind.READ_ONLY;
      // Rights, no such table or column or schema.
      case "42501", "42P01", "42703", "3F000" -> ErrorKind.UNFIT;
      // Password, no such database. Not 28000 and 08004, which are also said where a service that
      // authenticates is down, or the server cannot fork.
      case "28P01", "3D000" -> ErrorKind.UNFIT;
      // A plan that the tables have outlived, or a statement that the connection has lost.
      case "0A000", "26000" -> ErrorKind.BROKEN;
      default ->
          // Data or statement of a wrong form: a bug, but no reason to drop the connection.
          state.startsWith("22")
                  || state.startsWith("42")
                  || state.startsWith("23")
                  || Dialect.isUntrusted(error)
              ? ErrorKind.UNFIT
              : ErrorKind.BROKEN;
    };
  }

  @Override
  public UnfitReason reason(SQLException error) {
    return switch (String.valueOf(error.getSQLState())) {
      case "28P01", "28000" -> UnfitReason.NO_ENTRY;
      case "42501" -> UnfitReason.NO_RIGHT;
      case "3D000" -> UnfitReason.NO_DATABASE;
      case "3F000" -> UnfitReason.NO_SCHEMA;
      case "25006" -> UnfitReason.READ_ONLY;
      // The driver's own: no password was given for a user that needs one, or the server has no
      // TLS.
      case "08004" -> saysTls(error) ? UnfitReason.NO_TLS : UnfitReason.NO_ENTRY;
      case "53300" -> UnfitReason.TOO_MANY_CONNECTIONS;
      case "42P05", "26000" -> UnfitReason.POOLED;
      default -> Dialect.isUntrusted(error) ? UnfitReason.NO_TLS : UnfitReason.OTHER;
    };
  }

  private static boolean saysTls(SQLException error) {
    String message = String.valueOf(error.getMessage());
    return message.contains("SSL") || message.contains("TLS");
  }
}
