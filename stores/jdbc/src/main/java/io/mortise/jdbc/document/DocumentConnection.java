package io.mortise.jdbc.document;

import io.mortise.internal.runtime.CompletionStages;
import io.mortise.jdbc.table.ConnectionState;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A connection that is ready for steps. Used by one thread at a time, but for {@link #abort}. */
final class DocumentConnection {
  private static final Logger log = LoggerFactory.getLogger(DocumentConnection.class);

  private final Connection connection;
  private final @Nullable ConnectionState before;
  private final DocumentTable table;
  private volatile Runnable onClose = () -> {};
  private volatile long usedAt;

  private DocumentConnection(
      Connection connection, @Nullable ConnectionState before, DocumentTable table) {
    this.connection = connection;
    this.before = before;
    this.table = table;
  }

  /**
   * Sets a new connection up: auto-commit, READ COMMITTED, and where the driver can, a bound for
   * each wait for the network. Closes it if that fails.
   */
  static DocumentConnection of(Connection connection, DocumentDatabase database)
      throws SQLException {
    try {
      ConnectionState before = database.borrows() ? ConnectionState.of(connection) : null;
      connection.setAutoCommit(true);
      if (connection.isReadOnly()) {
        connection.setReadOnly(false);
      }
      if (connection.getTransactionIsolation() != Connection.TRANSACTION_READ_COMMITTED) {
        connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
      }
      try {
        connection.setNetworkTimeout(Runnable::run, (int) database.timeout().toMillis());
      } catch (SQLFeatureNotSupportedException e) {
        log.trace("No network timeout on {}", database.display(), e);
      }
      return new DocumentConnection(connection, before, database.table(connection));
    } catch (SQLException | RuntimeException e) {
      try (connection) {
        throw e;
      }
    }
  }

  DocumentTable table() {
    return table;
  }

  /** Has this called when the connection ends. */
  void onClose(Runnable action) {
    onClose = action;
  }

  long usedAt() {
    return usedAt;
  }

  void usedAt(long nanos) {
    usedAt = nanos;
  }

  /** Whether the database answers soon. Blocks, for a second at most. */
  boolean isAlive() {
    try {
      return connection.isValid(1);
    } catch (SQLException e) {
      return false;
    }
  }

  /** Undoes a transaction; false if that fails. */
  boolean rollBack() {
    try {
      table.rollback();
      return true;
    } catch (SQLException e) {
      log.debug("A roll-back failed", e);
      return false;
    }
  }

  /** Ends the connection in good order: a pool gets it as it was. */
  void giveBack() {
    onClose.run();
    try (connection) {
      if (before != null) {
        before.restore(connection);
      }
    } catch (SQLException e) {
      log.debug("A connection could not be given back", e);
    }
  }

  /**
   * Ends a useless connection, which a pool must not lend again. The abort undoes an open
   * transaction; a driver that closes in good order might commit it, or refuse to close. Does not
   * block: a driver may say goodbye to a server that does not answer.
   */
  void close() {
    onClose.run();
    var unused =
        CompletionStages.detached(
            "mortise-abort",
            () -> {
              abort();
              connection.close();
              return true;
            });
  }

  /** Cuts the connection; a call of another thread on it fails. */
  void abort() {
    try {
      connection.abort(Runnable::run);
    } catch (SQLException e) {
      log.debug("A connection could not be cut", e);
    }
  }
}
