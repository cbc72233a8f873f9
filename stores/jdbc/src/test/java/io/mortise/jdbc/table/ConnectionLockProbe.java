package io.mortise.jdbc.table;

import io.mortise.spi.SessionId;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.awaitility.Awaitility;

/** Whether a server has noticed that the process of a session is connected, or is so no more. */
public final class ConnectionLockProbe {
  private ConnectionLockProbe() {}

  public static void await(String url, SessionId session, boolean there) {
    // By a transaction of its own each time, at whose end what was tried is given back.
    String sql =
        url.startsWith("jdbc:postgresql:")
            ? "SELECT NOT pg_try_advisory_xact_lock_shared(hashtextextended(?, 0))"
            : "SELECT IS_USED_LOCK(?) IS NOT NULL";
    try (Connection connection = DriverManager.getConnection(url);
        PreparedStatement look = connection.prepareStatement(sql)) {
      look.setString(1, SessionRepository.CONNECTIONS + session.value());
      Awaitility.await()
          .atMost(Duration.ofSeconds(30))
          .pollInterval(Duration.ofMillis(5))
          .until(() -> isThere(look) == there);
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  /** Ends the connection that holds the lock of a session, and waits until the server has. */
  public static void breakThat(Connection by, SessionId session) throws SQLException {
    boolean isPostgres = by.getMetaData().getURL().startsWith("jdbc:postgresql:");
    String holder =
        isPostgres
            ? "SELECT pid FROM pg_locks, (SELECT hashtextextended(?, 0) AS k) h WHERE locktype ="
                + " 'advisory' AND granted AND (CAST(classid AS bigint) << 32 | CAST(objid AS"
                + " bigint)) = h.k"
            : "SELECT IS_USED_LOCK(?)";
    try (PreparedStatement find = by.prepareStatement(holder);
        Statement kill = by.createStatement()) {
      find.setString(1, SessionRepository.CONNECTIONS + session.value());
      try (ResultSet row = find.executeQuery()) {
        row.next();
        long id = row.getLong(1);
        kill.execute(isPostgres ? "SELECT pg_terminate_backend(" + id + ")" : "KILL " + id);
        String left =
            isPostgres
                ? "SELECT count(*) > 0 FROM pg_stat_activity WHERE pid = " + id
                : "SELECT COUNT(*) > 0 FROM information_schema.PROCESSLIST WHERE ID = " + id;
        try (PreparedStatement look = by.prepareStatement(left)) {
          Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> !isThere(look));
        }
      }
    }
  }

  private static boolean isThere(PreparedStatement look) throws SQLException {
    try (ResultSet row = look.executeQuery()) {
      row.next();
      return row.getBoolean(1);
    }
  }
}
