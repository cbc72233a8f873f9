package io.mortise.jdbc.dialect;

import io.mortise.StoreUnfitException;
import io.mortise.jdbc.table.Database;
import io.mortise.jdbc.table.LockRepository;
import io.mortise.jdbc.table.StoreConnection;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Where the open connections of a store lead. Locks exclude each other on one server only, so
 * connections that a balancer spreads over several primaries are refused. Thread-safe.
 */
final class ConnectedServers {
  private static final String TABLES_ID = "id";

  private final String store;
  private final Map<StoreConnection, DatabaseIdentity> open = new ConcurrentHashMap<>();

  /**
   * @param tables a random id that was stored when the tables were made, and is replicated with
   *     them; empty if there is none
   * @param server a value that differs between servers
   */
  record DatabaseIdentity(String tables, String server) {
    /** Asks the server at the other end of a connection. */
    static DatabaseIdentity of(Connection connection, String query) throws SQLException {
      // Not prepared: behind a pooler that was not named, it might meet another connection's.
      try (Statement asking = connection.createStatement();
          ResultSet row = asking.executeQuery(query)) {
        row.next();
        return new DatabaseIdentity(
            Objects.requireNonNullElse(row.getString(1), ""), String.valueOf(row.getString(2)));
      }
    }

    /** A replica that took over has the same tables, and tables made anew the same server. */
    private boolean isElsewhere(DatabaseIdentity other) {
      return !tables.isEmpty()
          && !other.tables.isEmpty()
          && !tables.equals(other.tables)
          && !server.equals(other.server);
    }
  }

  ConnectedServers(String store) {
    this.store = store;
  }

  /**
   * Stores an id for the tables, unless they have one. Without the right to write there, two
   * servers are not told apart.
   *
   * @param facts those of the tables
   */
  static void identifyTables(
      LockRepository lockRepository, Map<String, String> facts, Dialect dialect)
      throws SQLException {
    if (facts.containsKey(TABLES_ID)) {
      return;
    }
    try {
      lockRepository.putFact(TABLES_ID, UUID.randomUUID().toString(), true);
    } catch (SQLException e) {
      boolean anotherWasFirst = dialect.errorKind(e) == Database.ErrorKind.BUSY;
      if (!anotherWasFirst && dialect.reason(e) != Dialect.UnfitReason.NO_RIGHT) {
        throw e;
      }
    }
  }

  /**
   * Adds a connection until it is closed.
   *
   * @throws StoreUnfitException if another one leads elsewhere
   */
  void add(StoreConnection connection, DatabaseIdentity here) {
    open.put(connection, here);
    connection.onClose(() -> open.remove(connection));
    for (DatabaseIdentity other : open.values()) {
      if (here.isElsewhere(other)) {
        throw new StoreUnfitException(
            "%s has connections to different servers at one time, each with locks of its own: '%s' and '%s'. Name one primary; a balancer must not spread connections over several."
                .formatted(store, other.server(), here.server()));
      }
    }
  }
}
