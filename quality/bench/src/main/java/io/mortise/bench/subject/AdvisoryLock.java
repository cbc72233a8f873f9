package io.mortise.bench.subject;

import io.mortise.bench.subject.Subjects.SubjectStore;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;

/**
 * The advisory locks of a database, with a connection per thread. They live in memory and end with
 * the server, hence mark the limit.
 */
final class AdvisoryLock extends DatabaseSubject {
  AdvisoryLock(StoreUrls storeUrls, SubjectStore storeKind) {
    super(new BenchDatabase(storeUrls, storeKind));
  }

  @Override
  public LockHandle lockHandle(String lock) throws SQLException {
    Connection connection = benchDatabase.connection();
    return benchDatabase.place() == SubjectStore.POSTGRESQL
        ? advisory(connection, lock)
        : named(connection, lock);
  }

  private static LockHandle advisory(Connection connection, String lock) throws SQLException {
    long key =
        UUID.nameUUIDFromBytes(lock.getBytes(StandardCharsets.UTF_8)).getMostSignificantBits();
    PreparedStatement take = connection.prepareStatement("select pg_advisory_lock(?)");
    take.setLong(1, key);
    PreparedStatement release = connection.prepareStatement("select pg_advisory_unlock(?)");
    release.setLong(1, key);
    return new LockHandle() {
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
      public void release() throws SQLException {
        PlainLock.check(yes(release) ? 1 : 0, lock);
      }
    };
  }

  private static LockHandle named(Connection connection, String lock) throws SQLException {
    PreparedStatement take = connection.prepareStatement("select get_lock(?, ?)");
    take.setString(1, lock);
    PreparedStatement release = connection.prepareStatement("select release_lock(?)");
    release.setString(1, lock);
    return new LockHandle() {
      @Override
      public boolean take(long waitMillis) throws SQLException {
        take.setDouble(2, waitMillis / 1000.0);
        return yes(take);
      }

      @Override
      public void release() throws SQLException {
        PlainLock.check(yes(release) ? 1 : 0, lock);
      }
    };
  }

  private static boolean yes(PreparedStatement statement) throws SQLException {
    try (ResultSet row = statement.executeQuery()) {
      return row.next() && row.getBoolean(1);
    }
  }
}
