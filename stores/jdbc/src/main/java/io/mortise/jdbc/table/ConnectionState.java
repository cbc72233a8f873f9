package io.mortise.jdbc.table;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;

/**
 * How a pool's connection was when it was taken, as far as JDBC has it: not each pool sets that
 * back by itself.
 *
 * @param networkTimeout in ms; below 0 if the driver has none
 */
public record ConnectionState(
    boolean autoCommit, boolean readOnly, int isolation, int networkTimeout) {
  public static ConnectionState of(Connection connection) throws SQLException {
    int networkTimeout;
    try {
      networkTimeout = connection.getNetworkTimeout();
    } catch (SQLFeatureNotSupportedException e) {
      networkTimeout = -1;
    }
    return new ConnectionState(
        connection.getAutoCommit(),
        connection.isReadOnly(),
        connection.getTransactionIsolation(),
        networkTimeout);
  }

  /** In auto-commit mode: an isolation cannot be set within a transaction. */
  public void restore(Connection connection) throws SQLException {
    connection.setTransactionIsolation(isolation);
    if (readOnly) {
      connection.setReadOnly(true);
    }
    connection.setAutoCommit(autoCommit);
    if (networkTimeout >= 0 && connection.getNetworkTimeout() != networkTimeout) {
      connection.setNetworkTimeout(Runnable::run, networkTimeout);
    }
  }
}
