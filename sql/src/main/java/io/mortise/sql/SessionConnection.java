package io.mortise.sql;

import io.mortise.LockName;
import io.mortise.UnsupportedByStoreException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Objects;

/** The connection in which one session lock lives. For one thread at a time. */
final class SessionConnection {
  private final Connection connection;
  private final SqlFiles files;
  private final Object key;
  private final boolean manual;
  private final int networkTimeout;

  private SessionConnection(Connection connection, SqlFiles files, Object key) throws SQLException {
    this.connection = connection;
    this.files = files;
    this.key = key;
    this.networkTimeout = connection.getNetworkTimeout();
    this.manual = !connection.getAutoCommit();
    if (manual) {
      // Else each check would begin a transaction that nobody ends.
      connection.setAutoCommit(true);
    }
  }

  static SessionConnection over(Connection connection, LockName name) throws SQLException {
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
    return new SessionConnection(connection, files, key);
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

  boolean acquire(Duration wait) throws SQLException {
    if (wait.isZero()) {
      return ask("session_try", key);
    } else if (files.dialect() == HelperDialect.POSTGRESQL) {
      return acquireOnPostgres(wait);
    }
    return ask("session_lock", key, (wait.toMillis() + 999) / 1000);
  }

  private boolean acquireOnPostgres(Duration wait) throws SQLException {
    String before = answer("wait_read");
    ask("session_wait", Math.max(1, wait.toMillis()) + "ms");
    boolean had = true;
    try {
      ask("session_lock", key);
    } catch (SQLException e) {
      if (!files.dialect().isLockTimeout(e)) {
        throw e;
      }
      had = false;
    }
    ask("session_wait", before);
    return had;
  }

  /** Whether the server still knows the lock as this connection's. */
  boolean holds() throws SQLException {
    return ask("session_held", key);
  }

  /** False if the server did not know the lock as this connection's. */
  boolean release() throws SQLException {
    return ask("session_release", key);
  }

  /** From now on, no answer takes longer, or the connection is broken. */
  void bound(Duration answer) throws SQLException {
    connection.setNetworkTimeout(Runnable::run, (int) answer.toMillis());
  }

  /** To the pool, as it was. */
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
      // It was broken already, which is what was wanted.
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
