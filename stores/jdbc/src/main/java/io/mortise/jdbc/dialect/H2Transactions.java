package io.mortise.jdbc.dialect;

import io.mortise.jdbc.table.LockRepository;
import io.mortise.jdbc.table.SqlText;
import io.mortise.jdbc.table.StoreConnection;
import io.mortise.spi.SessionNotification;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Transactions by the means of JDBC; outside of one, each statement commits by itself. */
final class H2Transactions implements StoreConnection.Transactions {
  private final Connection connection;
  private final SqlText text;
  private final Runnable left;
  private final PreparedStatement now;

  /**
   * @param left remembers that a session may be left on the server
   */
  H2Transactions(Connection connection, SqlText text, Runnable left) throws SQLException {
    this.connection = connection;
    this.text = text;
    this.left = left;
    this.now = connection.prepareStatement(text.statement("now").sql());
  }

  @Override
  public void begin(LockRepository.@Nullable PrefetchTarget prefetchTarget) throws SQLException {
    connection.setAutoCommit(false);
  }

  @Override
  public void commit(List<SessionNotification> pendingNotifications) throws SQLException {
    connection.commit();
    connection.setAutoCommit(true);
  }

  @Override
  public void rollback() throws SQLException {
    if (!connection.getAutoCommit()) {
      connection.rollback();
      connection.setAutoCommit(true);
    }
  }

  @Override
  public void detach() throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(text.statement("leave").sql());
    }
  }

  @Override
  public void broke() {
    left.run();
  }

  @Override
  public long now() throws SQLException {
    try (ResultSet row = now.executeQuery()) {
      row.next();
      return row.getLong(1);
    }
  }
}
