package io.mortise.jdbc.dialect;

import io.mortise.StoreUnfitException;
import io.mortise.jdbc.batch.BlockedRowQueue;
import io.mortise.jdbc.table.Database.ErrorKind;
import io.mortise.jdbc.table.LockRepository;
import io.mortise.jdbc.table.NamedStatement;
import io.mortise.jdbc.table.SqlText;
import io.mortise.jdbc.table.StoreConnection;
import io.mortise.spi.SessionId;
import io.mortise.spi.StoreReport;
import io.mortise.spi.StoreUrl;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.function.Predicate;

/**
 * H2: embedded, in memory or a server.
 *
 * <p>Its time is that of the database at the beginning of a transaction, hence perhaps a little
 * before the lock's row was got. A wait for a row is short ({@link BlockedRowQueue#LOCK_WAIT}) and
 * then tried again, so that a row which somebody else keeps locked holds up nobody for long. Steps
 * run on threads of ours only: H2 closes the file of a thread that is interrupted.
 */
public final class H2Dialect implements Dialect {
  /** Statements that name no table, hence need no prefix. */
  static final SqlText TEXT = new SqlText("h2", SqlText.DEFAULT_PREFIX);

  private final H2SessionCleaner sessions = new H2SessionCleaner();

  @Override
  public String folder() {
    return "h2";
  }

  @Override
  public String product() {
    return "H2";
  }

  @Override
  public String driver() {
    return "com.h2database:h2";
  }

  /** None: settings of H2 stand behind semicolons. */
  @Override
  public Set<String> driverParameters() {
    return Set.of();
  }

  @Override
  public ConnectionTarget target(StoreUrl url, Duration maxInFlight) {
    String base = url.base();
    String lower = base.toLowerCase(Locale.ROOT);
    if (lower.equals("jdbc:h2:mem:") || lower.startsWith("jdbc:h2:mem:;")) {
      throw new IllegalArgumentException(
          "Store URL '%s' names a database that no second connection can reach. Write jdbc:h2:mem:name."
              .formatted(url));
    }
    boolean remote = H2SessionCleaner.isRemote(base);
    // Else a connection that died without a word would be waited for without end.
    String bounded =
        remote && !lower.contains(";network_timeout=")
            ? base + ";NETWORK_TIMEOUT=" + maxInFlight.toMillis()
            : base;
    int settings = base.indexOf(';');
    return new ConnectionTarget(
        bounded, new Properties(), settings < 0 ? base : base.substring(0, settings));
  }

  @Override
  public void check(Connection connection, String store) throws SQLException {
    int version = connection.getMetaData().getDatabaseMajorVersion();
    if (version < 2) {
      throw new StoreUnfitException(
          "%s is H2 %s. Expected H2 2.0 or later."
              .formatted(store, connection.getMetaData().getDatabaseProductVersion()));
    }
    try (NamedStatement asking = new NamedStatement(connection, TEXT.statement("mode"))) {
      String mode = asking.first(row -> row.getString(1));
      if (mode != null) {
        throw new StoreUnfitException(
            "%s runs in MODE=%s, in which statements for locks mean something else. Use another mode, or a database of its own for locks."
                .formatted(store, mode));
      }
    }
  }

  @Override
  public Optional<String> setUp(Connection connection, String store, Duration maxInFlight)
      throws SQLException {
    connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
    // Half of a request's time limit, so that the last try ends in time.
    long half = maxInFlight.toMillis() / 2;
    try (NamedStatement namedStatement = new NamedStatement(connection, TEXT.statement("setup"))) {
      namedStatement
          .set("lock_ms", Math.min(BlockedRowQueue.LOCK_WAIT.toMillis(), half))
          .set("statement_ms", half)
          .update();
    }
    sessions.end(connection);
    return Optional.empty();
  }

  @Override
  public StoreConnection storeConnection(
      Connection connection, SqlText text, String namespace, Predicate<SessionId> isLocal)
      throws SQLException {
    Runnable left =
        H2SessionCleaner.isRemote(connection.getMetaData().getURL())
            ? sessions.remembering(connection)
            : () -> {};
    return new StoreConnection(
        connection,
        new LockRepository(connection, text, namespace),
        new H2Transactions(connection, text, left));
  }

  @Override
  public StoreReport examine(Connection connection) throws SQLException {
    return H2SettingsReport.of(connection);
  }

  @Override
  public ErrorKind errorKind(SQLException error) {
    String state = error.getSQLState();
    if (state != null && state.startsWith("08")) {
      return ErrorKind.BROKEN;
    }
    return switch (error.getErrorCode()) {
      // Concurrent update, deadlock, lock timeout, query timeout, two first inserts of one row.
      case 90131, 40001, 50200, 57014, 23505 -> ErrorKind.BUSY;
      case 90097 -> ErrorKind.READ_ONLY;
      // Logins that are refused, no database.
      case 28000, 90013, 90146, 90149 -> ErrorKind.UNFIT;
      // Rights, tables gone.
      case 90096, 42102, 42103, 42104 -> ErrorKind.UNFIT;
      // Data of a wrong form: a bug, but no reason to drop the connection.
      case 22001, 22003, 22018, 42000, 42122 -> ErrorKind.UNFIT;
      default -> ErrorKind.BROKEN;
    };
  }

  @Override
  public UnfitReason reason(SQLException error) {
    return switch (error.getErrorCode()) {
      case 28000 -> UnfitReason.NO_ENTRY;
      case 90096 -> UnfitReason.NO_RIGHT;
      case 90013, 90146, 90149 -> UnfitReason.NO_DATABASE;
      case 90097 -> UnfitReason.READ_ONLY;
      case 90020 -> UnfitReason.IN_USE;
      default -> UnfitReason.OTHER;
    };
  }
}
