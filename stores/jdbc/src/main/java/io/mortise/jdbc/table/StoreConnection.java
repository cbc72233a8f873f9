package io.mortise.jdbc.table;

import io.mortise.spi.Request;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.StoreReport;
import io.mortise.support.table.LockTable;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One connection with its statements. Used by one thread at a time. */
public final class StoreConnection implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(StoreConnection.class);

  private final Connection connection;
  private final Transactions transactions;
  private List<SessionNotification> pendingNotifications = new ArrayList<>();
  private @Nullable ConnectionState before;
  private Runnable onClose = () -> {};

  public final LockRepository repository;
  public final LockTable<?, SQLException> locks;
  public final SqlSessionTable sessions;
  public final FactTable facts;

  public StoreConnection(
      Connection connection, LockRepository repository, Transactions transactions) {
    this.connection = connection;
    this.transactions = transactions;
    this.repository = repository;
    this.locks =
        new LockTable<>(
            new SqlLockRecords(
                repository, notifications -> pendingNotifications.add(notifications)));
    this.sessions = new SqlSessionTable(repository);
    this.facts = new FactTable(repository);
  }

  /** How a database begins and ends transactions, and what time it is there. */
  public interface Transactions {
    /**
     * Begins one that may write.
     *
     * @param prefetchTarget a step on this lock follows, so that what it may read can be read at
     *     once; null if something else follows
     */
    void begin(LockRepository.@Nullable PrefetchTarget prefetchTarget) throws SQLException;

    /**
     * Ends it.
     *
     * @param pendingNotifications the notifications that it left, which a server may push to other
     *     processes
     */
    void commit(List<SessionNotification> pendingNotifications) throws SQLException;

    void rollback() throws SQLException;

    /** The connection goes back to where it came from: undoes what was set for us alone. */
    default void detach() throws SQLException {}

    /** The store's time in microseconds. */
    long now() throws SQLException;
  }

  public void begin(LockRepository.@Nullable PrefetchTarget prefetchTarget) throws SQLException {
    transactions.begin(prefetchTarget);
  }

  public void commit() throws SQLException {
    transactions.commit(pendingNotifications);
  }

  public void rollback() throws SQLException {
    pendingNotifications.clear();
    transactions.rollback();
  }

  /**
   * Does the common step on a contended lock in one text.
   *
   * @param request with a fast path; an acquire is ready to queue
   */
  public ContendedRequest contended(Request request) throws SQLException {
    ContendedRequest contendedRequest = new ContendedRequest(request);
    repository.contended(contendedRequest);
    pendingNotifications.addAll(contendedRequest.pendingNotifications());
    return contendedRequest;
  }

  public long now() throws SQLException {
    return transactions.now();
  }

  /** See {@link Database#makeRoom}. */
  public void makeRoom(Database database) throws SQLException {
    database.makeRoom(connection);
  }

  /** See {@link Database#examine}. */
  public StoreReport examine(Database database) throws SQLException {
    return database.examine(connection);
  }

  /** The notifications that the transaction which has just committed left for sessions. */
  public List<SessionNotification> takeNotifications() {
    if (pendingNotifications.isEmpty()) {
      return List.of();
    }
    List<SessionNotification> taken = pendingNotifications;
    pendingNotifications = new ArrayList<>();
    return taken;
  }

  /** Whether the server answers soon. Blocks, for a second at most. */
  public boolean isAlive() {
    try {
      return connection.isValid(1);
    } catch (SQLException e) {
      return false;
    }
  }

  /** Has this called when the connection ends, once at least. */
  public void onClose(Runnable action) {
    onClose = action;
  }

  /** It is a pool's, and was in this state there. */
  public void borrowed(ConnectionState state) {
    before = state;
  }

  /** Gives the connection back as it was, where that matters; before {@link #close}. */
  public void detach() throws SQLException {
    repository.releaseConnectionLocks();
    transactions.detach();
    if (before != null) {
      before.restore(connection);
      before = null;
    }
  }

  /**
   * Ends the connection. One of a pool that was not detached is cut first: the pool might lend it
   * to others together with the locks and the settings that it has.
   */
  @Override
  public void close() throws SQLException {
    onClose.run();
    if (before != null && !connection.isClosed()) {
      abort();
    }
    connection.close();
  }

  /** Cuts the connection; a call of another thread on it fails. */
  public void abort() {
    try {
      connection.abort(Runnable::run);
    } catch (SQLException e) {
      log.debug("A connection could not be cut", e);
    }
  }
}
