package io.mortise.jdbc;

import io.mortise.StoreUnfitException;
import io.mortise.jdbc.Database.Trouble;
import io.mortise.jdbc.driver.EagerSocketFactory;
import io.mortise.spi.SessionId;
import io.mortise.spi.StoreReport;
import io.mortise.spi.StoreUrl;
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
 * SetAside#LOCK_WAIT}) and then tried again, so that a row which somebody else keeps locked holds
 * up nobody for long; the server itself ends a statement, and a transaction that its process has
 * forgotten.
 */
final class PostgresDialect implements Dialect {
  private static final Logger LOG = LoggerFactory.getLogger(PostgresDialect.class);

  private static final int OLDEST = 12;

  private static final SqlText TEXT = new SqlText("postgresql", SqlText.DEFAULT_PREFIX);

  /** Of each transaction, if a pooler stands before the server; null if the connection has them. */
  private final @Nullable Bounds pooled;

  PostgresDialect() {
    this(null);
  }

  private PostgresDialect(@Nullable Bounds pooled) {
    this.pooled = pooled;
  }

  @Override
  public Dialect behindPooler(Duration maxInFlight) {
    return new PostgresDialect(Bounds.within(maxInFlight));
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
  public Target target(StoreUrl url, Duration maxInFlight) {
    String base = url.base();
    if (base.indexOf('@') >= 0) {
      throw new IllegalArgumentException(
          "Store URL '"
              + url
              + "' has a user in front of the host, which the driver does not know. Write ?user=…&password=….");
    }
    Properties properties = new Properties();
    properties.setProperty("ApplicationName", "mortise");
    properties.setProperty("prepareThreshold", pooled == null ? "1" : "0");
    properties.setProperty("tcpKeepAlive", "true");
    // In whole seconds; a dead link is noticed within the time that a request may take.
    String seconds = Long.toString(Math.max(1, maxInFlight.toSeconds()));
    properties.setProperty("connectTimeout", seconds);
    properties.setProperty("socketTimeout", seconds);
    if (PostgresDriver.sees(EagerSocketFactory.class)) {
      properties.setProperty("socketFactory", EagerSocketFactory.class.getName());
    }
    if (base.indexOf(',') >= 0) {
      properties.setProperty("targetServerType", "primary");
    }
    return new Target(base, properties, base);
  }

  @Override
  public void check(Connection connection, String store) throws SQLException {
    if (connection.getMetaData().getDatabaseMajorVersion() < OLDEST) {
      throw new StoreUnfitException(
          store
              + " is PostgreSQL "
              + connection.getMetaData().getDatabaseProductVersion()
              + ". Expected version "
              + OLDEST
              + " or later.");
    }
  }

  @Override
  public Optional<String> setUp(Connection connection, String store, Duration maxInFlight)
      throws SQLException {
    Sql sql = new Sql(connection, TEXT.statement(pooled == null ? "setup" : "setup_pooled"));
    try (sql;
        ResultSet row = Bounds.within(maxInFlight).set(sql).query()) {
      row.next();
      if (row.getBoolean(1)) {
        throw new StoreUnfitException(
            store
                + " is a standby. A lock needs to write: name the primary, or all hosts with a comma between.");
      }
      if (row.getBoolean(2)) {
        throw new StoreUnfitException(
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

  /** What a statement, a wait for a row and a pause within a transaction may take, in ms. */
  private record Bounds(long row, long statement) {
    /** A quarter for a statement, so that a step of two, tried for the last time, ends in time. */
    static Bounds within(Duration maxInFlight) {
      long quarter = maxInFlight.toMillis() / 4;
      return new Bounds(Math.min(SetAside.LOCK_WAIT.toMillis(), quarter), quarter);
    }

    Sql set(Sql sql) throws SQLException {
      return sql.set("lock_timeout", Long.toString(row))
          .set("statement_timeout", Long.toString(statement))
          .set("idle_timeout", Long.toString(statement));
    }
  }

  @Override
  public Link link(
      Connection connection, SqlText text, String namespace, Predicate<SessionId> isLocal)
      throws SQLException {
    PostgresDriver driver = PostgresDriver.find();
    int backend = pooled != null || driver == null ? 0 : driver.backend(connection);
    PostgresRows rows =
        new PostgresRows(
            connection, text, namespace, isLocal, pooled != null, backend, mayAsk(connection));
    Sql opening =
        pooled == null ? null : pooled.set(new Sql(connection, TEXT.statement("begin_pooled")));
    return new Link(
        connection, rows, new PostgresTransactions(connection, rows, text, isLocal, opening));
  }

  private static boolean mayAsk(Connection connection) throws SQLException {
    Sql sql = new Sql(connection, TEXT.statement("may_ask"));
    try (sql;
        ResultSet row = sql.query()) {
      boolean may = row.next() && row.getBoolean(1);
      if (!may) {
        LOG.info("No right to try advisory locks, so that a waiter that is killed is waited for");
      }
      return may;
    }
  }

  @Override
  public @Nullable Push push(
      String display,
      ServerDatabase.Source source,
      Map<SessionId, JdbcSession> sessions,
      Push.Voice voice,
      Runnable look,
      Duration maxInFlight) {
    PostgresDriver driver = PostgresDriver.find();
    if (pooled != null) {
      LOG.info("{}: no notifications through a pooler; waiters are woken by polling", display);
      return null;
    } else if (driver == null) {
      LOG.info(
          "{}: not the driver that tells notifications; waiters are woken by polling", display);
      return null;
    }
    return new PostgresListener(driver, display, source, sessions, voice, look, maxInFlight);
  }

  /** The driver has to tell whether the server itself is at the other end. */
  @Override
  public boolean hasConnectionLocks() {
    return pooled == null && PostgresDriver.find() != null;
  }

  /** Its driver reads from a plain socket, which an interrupt does not touch. */
  @Override
  public boolean callerHelps() {
    return true;
  }

  /** Measured: no faster with more, and a smaller one waits for more commits. */
  @Override
  public int batch() {
    return 128;
  }

  @Override
  public StoreReport examine(Connection connection) throws SQLException {
    return PostgresExam.of(connection, pooled != null);
  }

  @Override
  public Trouble trouble(SQLException error) {
    String state = error.getSQLState();
    if (state == null || state.length() != 5) {
      return Trouble.BROKEN;
    }
    return switch (state) {
      // Serialization, deadlock, row locked, statement timeout, two first inserts of one row.
      case "40001", "40P01", "55P03", "57014", "23505" -> Trouble.BUSY;
      case "53100" -> Trouble.FULL;
      // Read-only, rights, no such table or column or schema.
      case "25006", "42501", "42P01", "42703", "3F000" -> Trouble.UNFIT;
      // A plan that the tables have outlived, or a statement that the connection has lost.
      case "0A000", "26000" -> Trouble.BROKEN;
      default ->
          // Data or statement of a wrong form: a bug, but no reason to drop the connection.
          state.startsWith("22") || state.startsWith("42") || state.startsWith("23")
              ? Trouble.UNFIT
              : Trouble.BROKEN;
    };
  }

  @Override
  public Reason reason(SQLException error) {
    return switch (String.valueOf(error.getSQLState())) {
      case "28P01", "28000" -> Reason.NO_ENTRY;
      case "42501" -> Reason.NO_RIGHT;
      case "3D000" -> Reason.NO_DATABASE;
      case "25006" -> Reason.READ_ONLY;
      // The driver's own: no password was given for a user that needs one, or the server has no
      // TLS.
      case "08004" -> saysTls(error) ? Reason.NO_TLS : Reason.NO_ENTRY;
      case "53300" -> Reason.TOO_MANY_CONNECTIONS;
      case "42P05", "26000" -> Reason.POOLED;
      default -> Dialect.isUntrusted(error) ? Reason.NO_TLS : Reason.OTHER;
    };
  }

  private static boolean saysTls(SQLException error) {
    String message = String.valueOf(error.getMessage());
    return message.contains("SSL") || message.contains("TLS");
  }
}
