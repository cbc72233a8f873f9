package io.mortise.jdbc;

import io.mortise.spi.News;
import io.mortise.spi.SessionId;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Transactions in two round trips: the driver sends BEGIN along with the first statement, and the
 * last writes take COMMIT with them. Behind it, hence in a transaction of its own, goes the hint to
 * the sessions of other processes: PostgreSQL lets only one transaction that notifies commit at a
 * time.
 */
final class PostgresTransactions implements Link.Transactions {
  private final Connection connection;
  private final PostgresRows rows;
  private final SqlText text;
  private final Predicate<SessionId> isLocal;

  /** Begins each of them, where nothing can be set for the whole connection. */
  private final @Nullable Sql opening;

  PostgresTransactions(
      Connection connection,
      PostgresRows rows,
      SqlText text,
      Predicate<SessionId> isLocal,
      @Nullable Sql opening) {
    this.connection = connection;
    this.rows = rows;
    this.text = text;
    this.isLocal = isLocal;
    this.opening = opening;
  }

  @Override
  public void begin(Rows.@Nullable Expected expected) throws SQLException {
    if (opening != null) {
      connection.setAutoCommit(false);
      opening.query().close();
    }
    if (expected != null) {
      // Begins by itself: what the driver sends for it is answered apart, for which this thread
      // would wake.
      rows.readAll(expected);
    } else {
      connection.setAutoCommit(false);
    }
  }

  @Override
  public void commit(List<News> told) throws SQLException {
    Flush flush = rows.flush();
    flush.add(text.statement("commit"), sql -> {});
    for (News news : told) {
      SessionId session = news.attempt().session();
      if (!isLocal.test(session)) {
        flush.add(
            text.statement("notify"),
            sql ->
                sql.set("channel", PostgresHints.channel(session))
                    .set("payload", PostgresHints.encode(news)));
      }
    }
    flush.send();
    rows.forget();
    if (!connection.getAutoCommit()) {
      // Nothing is open any more: this sends nothing.
      connection.setAutoCommit(true);
    }
  }

  @Override
  public void rollback() throws SQLException {
    rows.forget();
    if (!connection.getAutoCommit()) {
      connection.rollback();
      connection.setAutoCommit(true);
    } else {
      // A text of several statements may have begun one.
      execute(text.statement("rollback").sql());
    }
  }

  @Override
  public void leave() throws SQLException {
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
    return rows.now();
  }
}
