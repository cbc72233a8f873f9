package io.mortise.sql;

import io.mortise.spi.time.Ticker;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection of the helpers' own, for what has to be committed apart from the user's transaction.
 * It is taken once and kept: a thread that waited for a second connection from the pool while it
 * holds the last one would wait for itself. Autocommit; one thread at a time.
 */
final class DedicatedConnection implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(DedicatedConnection.class);

  private static final int CHECK_SECONDS = 2;

  /** Its statements end at once; one that does not keeps all threads of the process waiting. */
  private static final int ANSWER_MILLIS = 30_000;

  /**
   * How long MySQL and MariaDB wait for a row lock here; their own 50 s are a hang, as the lock may
   * be that of the very transaction whose thread waits for this connection.
   */
  private static final String LOCK_SECONDS = "1";

  private final DataSource source;
  private final int answerMillis;
  private final Ticker ticker;
  private final ReentrantLock lock = new ReentrantLock();
  private @Nullable Connection connection;
  private boolean restoreManual;
  private int restoreTimeout;
  private String restoreLockSeconds = LOCK_SECONDS;
  private boolean closed;

  DedicatedConnection(DataSource source, Ticker ticker) {
    this(source, ANSWER_MILLIS, ticker);
  }

  DedicatedConnection(DataSource source, int answerMillis, Ticker ticker) {
    this.source = source;
    this.answerMillis = answerMillis;
    this.ticker = ticker;
  }

  /** What to do; each statement is a transaction, and may be run twice. */
  @FunctionalInterface
  interface ConnectionFunction<T> {
    T run(Connection connection) throws SQLException;
  }

  /** Work without a result. */
  @FunctionalInterface
  interface ConnectionTask {
    void run(Connection connection) throws SQLException;
  }

  /** As {@link #call}. */
  void run(ConnectionTask connectionTask) throws SQLException {
    call(
        connection -> {
          connectionTask.run(connection);
          return true;
        });
  }

  /**
   * Runs the work, once more over a new connection if the old one turns out to be broken; not if it
   * broke for want of an answer, which would take as long again.
   */
  <T> T call(ConnectionFunction<T> work) throws SQLException {
    lock.lock();
    try {
      while (true) {
        boolean fresh = connection == null;
        Connection open = open();
        long began = ticker.nanos();
        try {
          return work.run(open);
        } catch (SQLException e) {
          boolean late = ticker.nanos() - began >= TimeUnit.MILLISECONDS.toNanos(answerMillis);
          if (open.isValid(CHECK_SECONDS)) {
            throw e;
          }
          drop(e);
          if (fresh || late) {
            throw e;
          }
        }
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
      try {
        prepare(present);
      } catch (SQLException | RuntimeException e) {
        drop(e);
        throw e;
      }
    }
    return present;
  }

  private void prepare(Connection taken) throws SQLException {
    restoreManual = !taken.getAutoCommit();
    if (restoreManual) {
      taken.setAutoCommit(true);
    }
    SqlFiles files = SqlFiles.of(taken);
    if (files.dialect().isServer()) {
      restoreTimeout = taken.getNetworkTimeout();
      taken.setNetworkTimeout(Runnable::run, answerMillis);
    }
    if (files.dialect().isMySqlLike()) {
      restoreLockSeconds = lockSeconds(taken, files);
      setLockSeconds(taken, files, LOCK_SECONDS);
    }
  }

  private static String lockSeconds(Connection connection, SqlFiles files) throws SQLException {
    try (Statement read = connection.createStatement();
        ResultSet row = read.executeQuery(files.statement("wait_read"))) {
      row.next();
      return row.getString(1);
    }
  }

  private static void setLockSeconds(Connection connection, SqlFiles files, String seconds)
      throws SQLException {
    try (Statement write = connection.createStatement()) {
      write.execute(files.statement("wait_write", Map.of("seconds", seconds)));
    }
  }

  private void drop(Exception cause) {
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

  /** Gives the connection back as it was. A broken one is closed, which is all there is to do. */
  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      Connection last = connection;
      connection = null;
      if (last != null) {
        giveBack(last);
      }
    } finally {
      lock.unlock();
    }
  }

  private void giveBack(Connection last) {
    try (last) {
      SqlFiles files = SqlFiles.of(last);
      if (files.dialect().isMySqlLike()) {
        setLockSeconds(last, files, restoreLockSeconds);
      }
      if (files.dialect().isServer()) {
        last.setNetworkTimeout(Runnable::run, restoreTimeout);
      }
      if (restoreManual) {
        last.setAutoCommit(false);
      }
    } catch (SQLException e) {
      log.debug("The connection of the SQL helpers was broken when it was given back.", e);
    }
  }
}
