package io.mortise.jdbc.dialect;

import io.mortise.jdbc.table.NamedStatement;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sessions of H2 servers whose connections were given up. The driver does not close the socket of a
 * connection that it gives up, as when an answer does not come in time: until the garbage collector
 * finds it, the server takes that session for one that is silent, and keeps the rows that are
 * locked in it. The next client that connects ends it, if its user is an administrator.
 * Thread-safe.
 */
final class H2SessionCleaner {
  private static final Logger log = LoggerFactory.getLogger(H2SessionCleaner.class);

  /** By the URL of the server. */
  private final Map<String, Queue<AbandonedSession>> left = new ConcurrentHashMap<>();

  private record AbandonedSession(int number, String began) {}

  static boolean isRemote(String url) {
    String lower = url.toLowerCase(Locale.ROOT);
    return lower.startsWith("jdbc:h2:tcp:") || lower.startsWith("jdbc:h2:ssl:");
  }

  /** An action that remembers the session of this open connection. */
  Runnable remembering(Connection connection) throws SQLException {
    Queue<AbandonedSession> all =
        left.computeIfAbsent(
            connection.getMetaData().getURL(), url -> new ConcurrentLinkedQueue<>());
    try (NamedStatement own =
            new NamedStatement(connection, H2Dialect.TEXT.statement("session_own"));
        ResultSet row = own.query()) {
      row.next();
      AbandonedSession session = new AbandonedSession(row.getInt(1), row.getString(2));
      return () -> all.add(session);
    }
  }

  /** Ends those that connections to the same server have left behind. */
  void end(Connection connection) throws SQLException {
    Queue<AbandonedSession> all = left.get(connection.getMetaData().getURL());
    if (all == null) {
      return;
    }
    for (AbandonedSession session : List.copyOf(all)) {
      try (NamedStatement abort =
              new NamedStatement(connection, H2Dialect.TEXT.statement("session_abort"));
          ResultSet row = abort.set("number", session.number).set("began", session.began).query()) {
        log.debug("Session {} ended: {}", session, row.next());
      }
      // Not before: if this connection breaks too, the next one tries.
      all.remove(session);
    }
  }
}
