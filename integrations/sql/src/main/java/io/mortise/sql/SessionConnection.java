package io.mortise.sql;

import io.mortise.LockName;
import io.mortise.UnsupportedByStoreException;
import io.mortise.spi.time.Ticker;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;

/** The connection of one session lock. For one thread at a time. */
final class SessionConnection {
  private static final long FIRST_PAUSE_NANOS = 10_000_000;
  private static final long LONGEST_PAUSE_NANOS = 250_000_000;

  private final Connection connection;
  private final SqlFiles files;
  private final Object key;
  private final Duration check;
  private final Ticker ticker;
  private final boolean manual;
  private final int networkTimeout;

  private SessionConnection(
      Connection connection, SqlFiles files, Object key, Duration check, Ticker ticker)
      throws SQLException {
    this.connection = connection;
    this.files = files;
    this.key = key;
    this.check = check;
    this.ticker = ticker;
    this.networkTimeout = connection.getNetworkTimeout();
    bound(check);
    this.manual = !connection.getAutoCommit();
    if (manual) {
      // Otherwise each check would begin a transaction that is never ended.
      connection.setAutoCommit(true);
    }
  }

  /**
   * A connection that answers in time or is broken.
   *
   * @param check how long an answer may take
   */
  static SessionConnection over(Connection connection, LockName name, Duration check, Ticker ticker)
      throws SQLException {
    SqlFiles files = SqlFiles.of(connection);
    Object key =
        switch (files.dialect()) {
          case POSTGRESQL -> ByteBuffer.wrap(hash(name)).getLong();
          case MYSQL, MARIADB -> "mortise/" + HexFormat.of().formatHex(hash(name), 0, 28);
          case H2, SQLITE ->
              throw new UnsupportedByStoreException(
                  files.dialect()
                      + " has no locks that live in a connection. Use a LockClient, or transaction locks.");
        };
    return new SessionConnection(connection, files, key, check, ticker);
  }

  private static byte[] hash(LockName name) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update("mortise/".getBytes(StandardCharsets.UTF_8));
      return digest.digest(name.utf8());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Every Java has SHA-256.", e);
    }
  }

  /**
   * Acquires the lock, until the deadline. PostgreSQL is polled: a statement that waits inside the
   * server keeps a snapshot, for which {@code CREATE INDEX CONCURRENTLY} of the holder would wait.
   * MySQL and MariaDB wait in the server, for as long as a check at a time.
   */
  boolean acquire(long deadlineNanos) throws SQLException {
    boolean had = ask("session_try", key);
    long pause = FIRST_PAUSE_NANOS;
    long left = deadlineNanos - ticker.nanos();
    while (!had && left > 0) {
      if (files.dialect() == HelperDialect.POSTGRESQL) {
        pause(Math.min(left, pause));
        pause = Math.min(2 * pause, LONGEST_PAUSE_NANOS);
        had = ask("session_try", key);
      } else {
        had = waitInServer(Math.min(left, check.toNanos()));
      }
      left = deadlineNanos - ticker.nanos();
    }
    return had;
  }

  private boolean waitInServer(long nanos) throws SQLException {
    long seconds = (nanos + 999_999_999) / 1_000_000_000;
    bound(check.plusSeconds(seconds));
    boolean had = ask("session_lock", key, seconds);
    bound(check);
    return had;
  }

  private void pause(long nanos) {
    boolean interrupted = false;
    long until = ticker.nanos() + nanos;
    for (long left = nanos; left > 0; left = until - ticker.nanos()) {
      LockSupport.parkNanos(this, left);
      interrupted |= Thread.interrupted();
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Whether the server still attributes the lock to this connection. */
  boolean holds() throws SQLException {
    return ask("session_held", key);
  }

  /** False if the server did not attribute the lock to this connection. */
  boolean release() throws SQLException {
    return ask("session_release", key);
  }

  /** From now on, no answer takes longer, or the connection is broken. */
  private void bound(Duration answer) throws SQLException {
    connection.setNetworkTimeout(Runnable::run, (int) answer.toMillis());
  }

  /** Returns the connection to the pool in its original state. A broken one is cut. */
  void giveBackQuietly() {
    try {
      giveBack();
    } catch (SQLException e) {
      cut();
    }
  }

  /** Returns the connection to the pool in its original state. */
  void giveBack() throws SQLException {
    try (connection) {
      connection.setNetworkTimeout(Runnable::run, networkTimeout);
      if (manual) {
        connection.setAutoCommit(false);
      }
    }
  }

  /** Ends the connection itself, and with it the lock, as soon as the server notices. */
  void cut() {
    try {
      connection.abort(Runnable::run);
      connection.close();
    } catch (SQLException e) {
      // It was broken already, which is the aim.
    }
  }

  /** True, 1, or anything that is no truth value at all. */
  private boolean ask(String statement, Object... values) throws SQLException {
    String answer = answer(statement, values);
    return answer.equals("t") || answer.equals("1");
  }

  private String answer(String statement, Object... values) throws SQLException {
    return Objects.requireNonNull(
        files
            .statement(connection, statement)
            .add(values)
            .first(row -> String.valueOf(row.getString(1))));
  }
}
