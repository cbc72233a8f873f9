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
 * Transactions in two round trips: the driver sends BEGIN along with the first statement, and the
 * last writes take COMMIT with them. Behind it, hence in a transaction of its own, goes the
 * notification to the sessions of other processes: PostgreSQL lets only one transaction that
 * notifies commit at a time.
 */
public final class PostgresTransactions implements StoreConnection.Transactions {
  private final Connection connection;
  private final PostgresLockRepository repository;
  private final SqlText text;
  private final Predicate<SessionId> isLocal;

  /** Begins each of them, where nothing can be set for the whole connection. */
  private final @Nullable NamedStatement opening;

  private PostgresTransactions(
      Connection connection,
      PostgresLockRepository repository,
      SqlText text,
      Predicate<SessionId> isLocal,
      @Nullable NamedStatement opening) {
    this.connection = connection;
    this.repository = repository;
    this.text = text;
    this.isLocal = isLocal;
    this.opening = opening;
  }

  /**
   * A connection with such transactions.
   *
   * @param isLocal whether a session is of this process, which needs no notification by the server
   * @param opening sets up each transaction, where a pooler stands before the server; else null
   * @param backend the server's process, as the driver was told when it connected; 0 if unknown
   * @param mayAsk whether this user may try the connection locks of others
   */
  public static StoreConnection connection(
      Connection connection,
      SqlText text,
      String namespace,
      Predicate<SessionId> isLocal,
      @Nullable NamedStatement opening,
      int backend,
      boolean mayAsk) {
    PostgresLockRepository repository =
        new PostgresLockRepository(
            connection, text, namespace, isLocal, opening != null, backend, mayAsk);
    return new StoreConnection(
        connection,
        repository,
        new PostgresTransactions(connection, repository, text, isLocal, opening));
  }

  @Override
  public void begin(LockRepository.@Nullable PrefetchTarget prefetchTarget) throws SQLException {
    if (opening != null) {
      connection.setAutoCommit(false);
      opening.query().close();
    }
    if (prefetchTarget != null) {
      // The text begins the transaction itself: the server answers the driver's own BEGIN
      // separately, which would wake this thread once more.
      repository.readAll(prefetchTarget);
    } else {
      connection.setAutoCommit(false);
    }
  }

  @Override
  public void commit(List<SessionNotification> pendingNotifications) throws SQLException {
    StatementBatch statementBatch = repository.statementBatch();
    statementBatch.add(text.statement("commit"), sql -> {});
    for (SessionNotification sessionNotification : pendingNotifications) {
      SessionId session = sessionNotification.attempt().session();
      if (!isLocal.test(session)) {
        statementBatch.add(
            text.statement("notify"),
            sql ->
                sql.set("channel", PostgresNotificationCodec.channel(session))
                    .set("payload", PostgresNotificationCodec.encode(sessionNotification)));
      }
    }
    statementBatch.send();
    repository.forget();
    if (!connection.getAutoCommit()) {
      // Nothing is open any more: this sends nothing.
      connection.setAutoCommit(true);
    }
  }

  @Override
  public void rollback() throws SQLException {
    repository.forget();
    if (!connection.getAutoCommit()) {
      connection.rollback();
      connection.setAutoCommit(true);
    } else {
      // A text of several statements may have begun one.
      execute(text.statement("rollback").sql());
    }
  }

  @Override
  public void detach() throws SQLException {
    if (opening == null) {
      execute(text.statement("leave").sql());
    }
  }

  private void execute(String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  @Override
  public long now() throws SQLException {
    return repository.now();
  }
}
