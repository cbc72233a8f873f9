package io.mortise.jdbc.dialect;

import io.mortise.jdbc.table.LockRepository;
import io.mortise.jdbc.table.SqlText;
import io.mortise.jdbc.table.StoreConnection;
import io.mortise.spi.SessionNotification;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Transactions by statements: by JDBC's auto-commit each would cost two more of them. Outside of
 * one, each statement commits by itself. Where the connection takes several statements in one text,
 * the beginning travels with what is read first, and the end with the last writes; a process that
 * stands still between the two loses the connection, and with it the rows that it has locked.
 */
final class MySqlTransactions implements StoreConnection.Transactions {
  private final SqlText text;
  private final SqlText.SqlStatement commit;
  private final MySqlLockRepository rows;
  private final Statement statement;
  private boolean open;

  MySqlTransactions(Connection connection, MySqlLockRepository rows, SqlText text)
      throws SQLException {
    this.text = text;
    this.rows = rows;
    SqlText.SqlStatement plain = text.statement("commit");
    this.commit =
        new SqlText.SqlStatement(plain.name(), plain.sql() + rows.closing(), plain.parameters());
    this.statement = connection.createStatement();
  }

  @Override
  public void begin(LockRepository.@Nullable PrefetchTarget prefetchTarget) throws SQLException {
    open = true;
    if (!rows.takesSeveral()) {
      statement.execute("START TRANSACTION");
    } else if (prefetchTarget != null) {
      rows.readAll(prefetchTarget);
    } else {
      rows.begin();
    }
  }

  @Override
  public void commit(List<SessionNotification> pendingNotifications) throws SQLException {
    if (rows.takesSeveral()) {
      rows.flush().add(commit, sql -> {});
      rows.flush().send();
      rows.forget();
    } else {
      statement.execute("COMMIT");
    }
    open = false;
  }

  @Override
  public void rollback() throws SQLException {
    rows.forget();
    // A text of several statements may have begun one, and failed in the middle.
    if (open || rows.takesSeveral()) {
      statement.execute("ROLLBACK" + rows.closing());
      open = false;
    }
  }

  @Override
  public void detach() throws SQLException {
    statement.execute(text.statement("leave").sql());
  }

  @Override
  public long now() throws SQLException {
    return rows.now();
  }
}
