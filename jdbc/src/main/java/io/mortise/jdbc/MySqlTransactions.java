package io.mortise.jdbc;

import io.mortise.spi.News;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

/**
 * Transactions by statements: by JDBC's auto-commit each would cost two more of them. Outside of
 * one, each statement commits by itself.
 */
final class MySqlTransactions implements Link.Transactions {
  private final SqlText text;
  private final Statement statement;
  private final PreparedStatement now;
  private boolean open;

  MySqlTransactions(Connection connection, SqlText text) throws SQLException {
    this.text = text;
    this.statement = connection.createStatement();
    this.now = connection.prepareStatement(text.statement("now").sql());
  }

  @Override
  public void begin() throws SQLException {
    open = true;
    statement.execute("START TRANSACTION");
  }

  @Override
  public void commit(List<News> told) throws SQLException {
    statement.execute("COMMIT");
    open = false;
  }

  @Override
  public void rollback() throws SQLException {
    if (open) {
      statement.execute("ROLLBACK");
      open = false;
    }
  }

  @Override
  public void leave() throws SQLException {
    statement.execute(text.statement("leave").sql());
  }

  @Override
  public long now() throws SQLException {
    try (ResultSet row = now.executeQuery()) {
      row.next();
      return row.getLong(1);
    }
  }
}
