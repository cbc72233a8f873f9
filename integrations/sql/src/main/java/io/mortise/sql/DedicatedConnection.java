package io.mortise.sql;

import io.mortise.internal.runtime.CompletionStages;
import io.mortise.spi.time.DurationText;
import io.mortise.spi.time.Ticker;
import io.mortise.support.internal.server.SocketKeepAlive;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection of the helpers' own, for statements that must be committed apart from the user's
 * transaction. Autocommit; one thread at a time.
 *
 * <p>It is taken once and kept. A thread of its own replaces a broken one, so that it never is the
 * connection that a data source binds to the caller's transaction. The new one may have to wait for
 * a place in the pool, which a caller may occupy while it waits here. Hence all waits here are
 * bounded, and a connection that arrives later serves the next caller.
 */
final class DedicatedConnection implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(DedicatedConnection.class);

  private static final int CHECK_SECONDS = 2;

  /** Its statements are short; a slow one blocks all threads of the process. */
  private static final int ANSWER_MILLIS = 30_000;

  /** How long a pool may take; counted from the first caller that needed the connection. */
  private static final int CONNECT_MILLIS = 5_000;

  /**
   * After this long another connection is requested: a driver without timeouts waits for ever for a
   * stalled server. Longer than a failing connect takes.
   */
  private static final long HUNG_NANOS = TimeUnit.MINUTES.toNanos(3);

  /** For a caller that has a connection and can do without this one. */
  private static final int SHORT_MILLIS = 1_000;

  /**
   * How long MySQL and MariaDB wait for a row lock here. Their default of 50 s would be a deadlock,
   * as the lock may belong to the transaction whose thread waits for this connection.
   */
  private static final String LOCK_SECONDS = "1";

  private final DataSource source;
  private final int answerMillis;
  private final Ticker ticker;
  private final ReentrantLock lock = new ReentrantLock();
  private @Nullable Connection connection;

  /** A connection that was requested and not taken yet. */
  private @Nullable CompletableFuture<Connection> arriving;

  private long askedAt;
  private long usedAt;
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

  /** Work to do; each statement is a transaction, and may be run twice. */
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

  /** There is no connection, and the work was not done. */
  private static final class NoConnectionException extends SQLTransientConnectionException {
    private static final long serialVersionUID = 1L;

    NoConnectionException(String why, @Nullable Throwable cause) {
      super(
          "The SQL helpers have no connection of their own now: %s. A pool needs one more than threads that use the helpers at one time."
              .formatted(why),
          "08001",
          cause);
    }
  }

  /**
   * Runs the work, once more over a new connection if the old one turns out to be broken; not after
   * a timeout, which would take as long again.
   *
   * @throws SQLTransientConnectionException if there is no connection in time, or the thread is
   *     interrupted while it waits for one: with that cause, and the flag set
   */
  <T> T call(ConnectionFunction<T> work) throws SQLException {
    return call(work, answerMillis, CONNECT_MILLIS);
  }

  /** As {@link #call}; empty if there is no connection soon. */
  <T> Optional<T> tryCall(ConnectionFunction<T> work) throws SQLException {
    try {
      return Optional.of(call(work, SHORT_MILLIS, SHORT_MILLIS));
    } catch (NoConnectionException e) {
      log.debug("The SQL helpers do without a connection of their own", e);
      return Optional.empty();
    }
  }

  private <T> T call(ConnectionFunction<T> work, int lockMillis, int connectMillis)
      throws SQLException {
    enter(lockMillis);
    try {
      while (true) {
        boolean fresh = connection == null;
        Connection open = open(connectMillis);
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

  /** A thread with a pending interrupt enters if the connection is free. */
  private void enter(int millis) throws NoConnectionException {
    try {
      if (!lock.tryLock() && !lock.tryLock(millis, TimeUnit.MILLISECONDS)) {
        throw new NoConnectionException("it was in use for " + text(millis), null);
      }
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
  }

  private static NoConnectionException interrupted(InterruptedException cause) {
    Thread.currentThread().interrupt();
    return new NoConnectionException("the thread was interrupted", cause);
  }

  private Connection open(int millis) throws NoConnectionException {
    if (closed) {
      throw new IllegalStateException("The SQL helpers were closed.");
    }
    Connection present = connection;
    long now = ticker.nanos();
    boolean rested = now - usedAt > SocketKeepAlive.UNCHECKED.toNanos();
    usedAt = now;
    if (present != null && rested && !isAlive(present)) {
      drop(new SQLException("forgotten"));
      present = null;
    }
    if (present != null) {
      return present;
    }
    CompletableFuture<Connection> asked = arriving;
    if (asked != null && !asked.isDone() && now - askedAt > HUNG_NANOS) {
      var unused = asked.thenAccept(this::giveBack);
      asked = null;
    }
    if (asked == null) {
      asked = CompletionStages.detached("mortise-sql-connect", this::connect);
      arriving = asked;
      askedAt = ticker.nanos();
    }
    long left = askedAt + TimeUnit.MILLISECONDS.toNanos(millis) - ticker.nanos();
    try {
      present = asked.get(Math.max(0, left), TimeUnit.NANOSECONDS);
      connection = present;
      arriving = null;
      return present;
    } catch (TimeoutException e) {
      throw new NoConnectionException("the data source gave none within " + text(millis), e);
    } catch (InterruptedException e) {
      throw interrupted(e);
    } catch (ExecutionException e) {
      arriving = null;
      Throwable cause = CompletionStages.cause(e.getCause());
      if (cause instanceof RuntimeException wrong) {
        throw wrong;
      }
      throw new NoConnectionException(String.valueOf(cause.getMessage()), cause);
    }
  }

  /** On a thread of its own, which has no transaction of the caller's. */
  private Connection connect() throws SQLException {
    Connection taken = source.getConnection();
    try {
      prepare(taken);
      return taken;
    } catch (SQLException | RuntimeException e) {
      try (taken) {
        throw e;
      }
    }
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

  private static boolean isAlive(Connection present) {
    try {
      return present.isValid(CHECK_SECONDS);
    } catch (SQLException e) {
      return false;
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

  /** Gives the connection back in its original state. A broken one is only closed. */
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
      if (arriving != null) {
        var unused = arriving.thenAccept(this::giveBack);
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

  private static String text(long millis) {
    return DurationText.format(Duration.ofMillis(millis));
  }
}
