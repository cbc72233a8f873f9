package io.mortise.jdbc.table;

import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Transactions by statements: by JDBC's auto-commit each would cost two more of them. Outside of
 * one, each statement commits by itself. Where the connection takes several statements in one text,
 * the beginning travels with the first read, and the end with the last writes; a process that
 * stands still between the two loses the connection, and with it the rows that it has locked.
 */
public final class MySqlTransactions implements StoreConnection.Transactions {
  private final SqlText text;
  private final SqlText.SqlStatement commit;
  private final MySqlLockRepository repository;
  private final Statement statement;
  private boolean open;

  private MySqlTransactions(Connection connection, MySqlLockRepository repository, SqlText text)
      throws SQLException {
    this.text = text;
    this.repository = repository;
    SqlText.SqlStatement plain = text.statement("commit");
    this.commit =
        new SqlText.SqlStatement(
            plain.name(), plain.sql() + repository.closing(), plain.parameters());
    this.statement = connection.createStatement();
  }

  /**
   * A connection with such transactions.
   *
   * @param isLocal whether a session is of this process
   * @param returning whether an insert can return rows
   */
  public static StoreConnection connection(
      Connection connection,
      SqlText text,
      String namespace,
      Predicate<SessionId> isLocal,
      boolean returning)
      throws SQLException {
    MySqlLockRepository repository =
        MySqlLockRepository.of(connection, text, namespace, isLocal, returning);
    return new StoreConnection(
        connection, repository, new MySqlTransactions(connection, repository, text));
  }

  @Override
  public void begin(LockRepository.@Nullable PrefetchTarget prefetchTarget) throws SQLException {
    open = true;
    if (!repository.takesSeveral()) {
      statement.execute("START TRANSACTION");
    } else if (prefetchTarget != null) {
      repository.readAll(prefetchTarget);
    } else {
      repository.begin();
    }
  }

  @Override
  public void commit(List<SessionNotification> pendingNotifications) throws SQLException {
    if (repository.takesSeveral()) {
      repository.statementBatch().add(commit, sql -> {});
      repository.statementBatch().send();
      repository.forget();
    } else {
      statement.execute("COMMIT");
    }
    open = false;
  }

  @Override
  public void rollback() throws SQLException {
    repository.forget();
    // A text of several statements may have begun one, and failed in the middle.
    if (open || repository.takesSeveral()) {
      statement.execute("ROLLBACK" + repository.closing());
      open = false;
    }
  }

  @Override
  public void detach() throws SQLException {
    statement.execute(text.statement("leave").sql());
  }

  @Override
  public long now() throws SQLException {
    return repository.now();
  }
}
