package io.mortise.jdbc.sql;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.locks.ReentrantLock;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A connection of the helpers' own, for what has to be committed apart from the user's transaction.
 * It is taken once and kept: a thread that waited for a second connection from the pool while it
 * holds the last one would wait for itself. Autocommit; one thread at a time.
 */
final class OwnConnection implements AutoCloseable {
  private static final int CHECK_SECONDS = 2;

  /** Its statements end at once; one that does not keeps all threads of the process waiting. */
  private static final int ANSWER_MILLIS = 30_000;

  private final DataSource source;
  private final ReentrantLock lock = new ReentrantLock();
  private @Nullable Connection connection;
  private boolean restoreManual;
  private int restoreTimeout;
  private boolean closed;

  OwnConnection(DataSource source) {
    this.source = source;
  }

  /** What to do; each statement is a transaction, and may be run twice. */
  @FunctionalInterface
  interface Work<T> {
    T run(Connection connection) throws SQLException;
  }

  /** Work without a result. */
  @FunctionalInterface
  interface Task {
    void run(Connection connection) throws SQLException;
  }

  /** As {@link #call}. */
  void run(Task task) throws SQLException {
    call(
        connection -> {
          task.run(connection);
          return true;
        });
  }

  /** Runs the work, once more over a new connection if the old one turns out to be broken. */
  <T> T call(Work<T> work) throws SQLException {
    lock.lock();
    try {
      boolean fresh = connection == null;
      Connection open = open();
      try {
        return work.run(open);
      } catch (SQLException e) {
        if (open.isValid(CHECK_SECONDS)) {
          throw e;
        }
        drop(e);
        if (fresh) {
          throw e;
        }
        return work.run(open());
      }
    } finally {
      lock.unlock();
    }
  }

  private Connection open() throws SQLException {
    if (closed) {
      throw new IllegalStateException("The SQL helpers were closed.");
    }
    Connection present = connection;
    if (present == null) {
      present = source.getConnection();
      connection = present;
      restoreManual = !present.getAutoCommit();
      if (restoreManual) {
        present.setAutoCommit(true);
      }
      if (Dialect.of(present).isServer()) {
        restoreTimeout = present.getNetworkTimeout();
        present.setNetworkTimeout(Runnable::run, ANSWER_MILLIS);
      }
    }
    return present;
  }

  private void drop(SQLException cause) {
    Connection broken = connection;
    connection = null;
    if (broken != null) {
      try {
        broken.close();
      } catch (SQLException e) {
        cause.addSuppressed(e);
      }
    }
  }

  @Override
  public void close() throws SQLException {
    lock.lock();
    try {
      closed = true;
      Connection last = connection;
      connection = null;
      if (last != null) {
        try (last) {
          if (Dialect.of(last).isServer()) {
            last.setNetworkTimeout(Runnable::run, restoreTimeout);
          }
          if (restoreManual) {
            last.setAutoCommit(false);
          }
        }
      }
    } finally {
      lock.unlock();
    }
  }
}
