package io.mortise.jdbc;

import io.mortise.spi.News;
import io.mortise.spi.StoreReport;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One connection with its statements. Used by one thread at a time. */
final class Link implements AutoCloseable {
  private final Connection connection;
  private final Transactions transactions;
  private List<News> told = new ArrayList<>();
  private @Nullable ConnectionState before;

  final Rows rows;
  final FastSteps fast;
  final LockSteps locks;
  final SessionSteps sessions;

  Link(Connection connection, Rows rows, Transactions transactions) {
    this.connection = connection;
    this.transactions = transactions;
    this.rows = rows;
    this.fast = new FastSteps(rows, news -> told.add(news));
    this.locks = new LockSteps(rows, news -> told.add(news));
    this.sessions = new SessionSteps(rows);
  }

  /** How a database begins and ends transactions, and what time it is there. */
  interface Transactions {
    /**
     * Begins one that may write.
     *
     * @param expected a step on this lock follows, so that what it may read can be read at once;
     *     null if something else follows
     */
    void begin(Rows.@Nullable Expected expected) throws SQLException;

    /**
     * Ends it.
     *
     * @param told the news that it left, of which a server may tell other processes
     */
    void commit(List<News> told) throws SQLException;

    void rollback() throws SQLException;

    /** The connection goes back to where it came from: undoes what was set for us alone. */
    default void leave() throws SQLException {}

    /** The connection broke, and is given up: something of it may be left on the server. */
    default void broke() {}

    /** The store's time in microseconds. */
    long now() throws SQLException;
  }

  void begin(Rows.@Nullable Expected expected) throws SQLException {
    transactions.begin(expected);
  }

  void commit() throws SQLException {
    transactions.commit(told);
  }

  void rollback() throws SQLException {
    told.clear();
    transactions.rollback();
  }

  long now() throws SQLException {
    return transactions.now();
  }

  /** See {@link Database#makeRoom}. */
  void makeRoom(Database database) throws SQLException {
    database.makeRoom(connection);
  }

  /** See {@link Database#examine}. */
  StoreReport examine(Database database) throws SQLException {
    return database.examine(connection);
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

  /** It is a pool's, and was in this state there. */
  void borrowed(ConnectionState state) {
    before = state;
  }

  /** Gives the connection back as it was, where that matters; before {@link #close}. */
  void leave() throws SQLException {
    rows.giveConnectionLocksBack();
    transactions.leave();
    if (before != null) {
      before.restore(connection);
    }
  }

  @Override
  public void close() throws SQLException {
    if (connection.isClosed()) {
      transactions.broke();
    }
    connection.close();
  }
}
