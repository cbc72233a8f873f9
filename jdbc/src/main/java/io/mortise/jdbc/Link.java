package io.mortise.jdbc;

import io.mortise.spi.News;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** One connection with its statements. Used by one thread at a time. */
final class Link implements AutoCloseable {
  private final Connection connection;
  private final Transactions transactions;
  private List<News> told = new ArrayList<>();

  final Rows rows;
  final LockSteps locks;
  final SessionSteps sessions;

  Link(Connection connection, Rows rows, Transactions transactions) {
    this.connection = connection;
    this.transactions = transactions;
    this.rows = rows;
    this.locks = new LockSteps(rows, news -> told.add(news));
    this.sessions = new SessionSteps(rows);
  }

  /** How a database begins and ends transactions, and what time it is there. */
  interface Transactions {
    /** Begins one that may write. */
    void begin() throws SQLException;

    void commit() throws SQLException;

    void rollback() throws SQLException;

    /** The store's time in microseconds. */
    long now() throws SQLException;
  }

  void begin() throws SQLException {
    transactions.begin();
  }

  void commit() throws SQLException {
    transactions.commit();
  }

  void rollback() throws SQLException {
    told.clear();
    transactions.rollback();
  }

  long now() throws SQLException {
    return transactions.now();
  }

  /** The news that the transaction which has just committed left for sessions. */
  List<News> takeTold() {
    if (told.isEmpty()) {
      return List.of();
    }
    List<News> taken = told;
    told = new ArrayList<>();
    return taken;
  }

  @Override
  public void close() throws SQLException {
    connection.close();
  }
}
