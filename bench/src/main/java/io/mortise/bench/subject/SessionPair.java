package io.mortise.bench.subject;

import io.mortise.bench.subject.Subjects.Place;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;

/**
 * The locks that a database keeps in memory for a connection, a connection per thread. They never
 * touch the disk, and they are gone with the server: the limit.
 */
final class SessionPair extends OnConnections {
  SessionPair(Stores stores, Place place) {
    super(new Database(stores, place));
  }

  @Override
  public Grip grip(String lock) throws SQLException {
    Connection connection = database.connection();
    return database.place() == Place.POSTGRESQL
        ? advisory(connection, lock)
        : named(connection, lock);
  }

  private static Grip advisory(Connection connection, String lock) throws SQLException {
    long key =
        UUID.nameUUIDFromBytes(lock.getBytes(StandardCharsets.UTF_8)).getMostSignificantBits();
    PreparedStatement take = connection.prepareStatement("select pg_advisory_lock(?)");
    take.setLong(1, key);
    PreparedStatement give = connection.prepareStatement("select pg_advisory_unlock(?)");
    give.setLong(1, key);
    return new Grip() {
      private long limit;

      @Override
      public boolean take(long waitMillis) throws SQLException {
        if (limit != waitMillis) {
          try (Statement statement = connection.createStatement()) {
            statement.execute("set lock_timeout = " + waitMillis);
          }
          limit = waitMillis;
        }
        try (ResultSet row = take.executeQuery()) {
          return row.next();
        } catch (SQLException e) {
          if ("55P03".equals(e.getSQLState())) {
            return false;
          }
          throw e;
        }
      }

      @Override
      public void give() throws SQLException {
        PlainLock.check(yes(give) ? 1 : 0, lock);
      }
    };
  }

  private static Grip named(Connection connection, String lock) throws SQLException {
    PreparedStatement take = connection.prepareStatement("select get_lock(?, ?)");
    take.setString(1, lock);
    PreparedStatement give = connection.prepareStatement("select release_lock(?)");
    give.setString(1, lock);
    return new Grip() {
      @Override
      public boolean take(long waitMillis) throws SQLException {
        take.setDouble(2, waitMillis / 1000.0);
        return yes(take);
      }

      @Override
      public void give() throws SQLException {
        PlainLock.check(yes(give) ? 1 : 0, lock);
      }
    };
  }

  private static boolean yes(PreparedStatement statement) throws SQLException {
    try (ResultSet row = statement.executeQuery()) {
      return row.next() && row.getBoolean(1);
    }
  }
}
