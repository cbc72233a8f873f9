package io.mortise.bench.subject;

import io.mortise.bench.subject.Subjects.SubjectStore;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A row that counts tickets and turns, with a connection per thread: one durable statement to
 * enqueue, one to hand off, and polls as frequent as Mortise's without notifications. The limit for
 * a hand-off by a row, but useless as a lock: a waiter that gives up or dies keeps its turn.
 */
final class TicketRowLock extends DatabaseSubject {
  private static final long POLL_NANOS = TimeUnit.MICROSECONDS.toNanos(400);

  TicketRowLock(StoreUrls storeUrls, SubjectStore storeKind) throws SQLException {
    super(new BenchDatabase(storeUrls, storeKind).prepare());
  }

  private boolean returns() {
    return benchDatabase.place() == SubjectStore.POSTGRESQL;
  }

  private PreparedStatement join(Connection connection) throws SQLException {
    return returns()
        ? connection.prepareStatement(
            "update ticket_lock set next_ticket = next_ticket + 1 where name = ? returning next_ticket")
        : connection.prepareStatement(
            "update ticket_lock set next_ticket = last_insert_id(next_ticket + 1) where name = ?",
            Statement.RETURN_GENERATED_KEYS);
  }

  private long ticket(PreparedStatement join) throws SQLException {
    join.execute();
    try (ResultSet row = returns() ? join.getResultSet() : join.getGeneratedKeys()) {
      row.next();
      return row.getLong(1);
    }
  }

  @Override
  public LockHandle lockHandle(String lock) throws SQLException {
    Connection connection = benchDatabase.connection();
    make(connection, lock);
    PreparedStatement join = join(connection);
    join.setString(1, lock);
    PreparedStatement look =
        connection.prepareStatement("select turn from ticket_lock where name = ?");
    look.setString(1, lock);
    PreparedStatement release =
        connection.prepareStatement("update ticket_lock set turn = turn + 1 where name = ?");
    release.setString(1, lock);
    return new LockHandle() {
      @Override
      public boolean take(long waitMillis) throws SQLException {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(waitMillis);
        long ticket = ticket(join);
        while (turn(look) < ticket) {
          if (System.nanoTime() > end) {
            return false;
          }
          LockSupport.parkNanos(POLL_NANOS);
        }
        return true;
      }

      @Override
      public void release() throws SQLException {
        PlainLock.check(release.executeUpdate(), lock);
      }
    };
  }

  /** Ticket 1 has the first turn. */
  private void make(Connection connection, String lock) throws SQLException {
    String sql = benchDatabase.insertOnce("ticket_lock (name, next_ticket, turn) values (?, 0, 1)");
    try (PreparedStatement insert = connection.prepareStatement(sql)) {
      insert.setString(1, lock);
      insert.executeUpdate();
    }
  }

  private static long turn(PreparedStatement look) throws SQLException {
    try (ResultSet row = look.executeQuery()) {
      row.next();
      return row.getLong(1);
    }
  }
}
