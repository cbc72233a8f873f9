package io.mortise.jdbc;

import io.mortise.spi.News;
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
final class MySqlTransactions implements Link.Transactions {
  private final SqlText text;
  private final SqlText.Statement commit;
  private final MySqlRows rows;
  private final Statement statement;
  private boolean open;

  MySqlTransactions(Connection connection, MySqlRows rows, SqlText text) throws SQLException {
    this.text = text;
    this.rows = rows;
    SqlText.Statement plain = text.statement("commit");
    this.commit =
        new SqlText.Statement(plain.name(), plain.sql() + rows.closing(), plain.parameters());
    this.statement = connection.createStatement();
  }

  @Override
  public void begin(Rows.@Nullable Expected expected) throws SQLException {
    open = true;
    if (!rows.takesSeveral()) {
      statement.execute("START TRANSACTION");
    } else if (expected != null) {
      rows.readAll(expected);
    } else {
      rows.begin();
    }
  }

  @Override
  public void commit(List<News> told) throws SQLException {
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
  public void leave() throws SQLException {
    statement.execute(text.statement("leave").sql());
  }

  @Override
  public long now() throws SQLException {
    return rows.now();
  }
}
