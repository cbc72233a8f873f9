package io.mortise.bench.subject;

import io.mortise.bench.subject.Subjects.Place;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/**
 * A row that is inserted to lock and deleted to unlock, by a connection per thread: the two
 * statements that a lock in a table needs, each committed by itself, and nothing else.
 */
final class RowPair implements Subject {
  private static final String GIVE = "delete from plain_lock where name = ? and holder = ?";

  private final Database database;

  RowPair(Stores stores, Place place) throws SQLException {
    database = new Database(stores, place).prepare();
  }

  private String take() {
    return switch (database.place()) {
      case MARIADB, MYSQL ->
          "insert ignore into plain_lock (name, holder, since) values (?, ?, now())";
      default ->
          "insert into plain_lock (name, holder, since) values (?, ?, current_timestamp) on conflict do nothing";
    };
  }

  @Override
  public Grip grip(String lock) throws SQLException {
    Connection connection = database.connection();
    long holder = Thread.currentThread().getId();
    PreparedStatement take = connection.prepareStatement(take());
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

  @Override
  public void threadEnds() throws SQLException {
    database.closeMine();
  }

  @Override
  public void close() {
    database.close();
  }
}
