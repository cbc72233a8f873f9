package io.mortise.bench.subject;

import io.mortise.bench.subject.Subjects.Place;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/**
 * A row that is inserted to lock and deleted to unlock, by a connection per thread: the two
 * statements that a lock in a table needs, each committed by itself, and nothing else.
 */
final class RowPair extends OnConnections {
  private static final String TAKE =
      "plain_lock (name, holder, since) values (?, ?, current_timestamp)";
  private static final String GIVE = "delete from plain_lock where name = ? and holder = ?";

  RowPair(Stores stores, Place place) throws SQLException {
    super(new Database(stores, place).prepare());
  }

  @Override
  public Grip grip(String lock) throws SQLException {
    Connection connection = database.connection();
    long holder = Thread.currentThread().getId();
    PreparedStatement take = connection.prepareStatement(database.insertOnce(TAKE));
    take.setString(1, lock);
    take.setLong(2, holder);
    PreparedStatement give = connection.prepareStatement(GIVE);
    give.setString(1, lock);
    give.setLong(2, holder);
    return new Grip() {
      @Override
      public boolean take(long waitMillis) throws SQLException {
        return take.executeUpdate() == 1;
      }

      @Override
      public void give() throws SQLException {
        PlainLock.check(give.executeUpdate(), lock);
      }
    };
  }
}
