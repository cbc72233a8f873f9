package io.mortise.bench.subject;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A row that is inserted to lock and deleted to unlock, by a connection per thread: the two
 * statements that a lock in a table needs, and nothing else.
 */
final class SqliteStatements implements Subject {
  private static final String URL = "jdbc:sqlite:";
  private static final String MAKE =
      "create table if not exists plain_lock (name text primary key, holder integer not null, since integer not null)";
  private static final String TAKE =
      "insert into plain_lock (name, holder, since) values (?, ?, unixepoch()) on conflict do nothing";
  private static final String GIVE = "delete from plain_lock where name = ? and holder = ?";

  private final String file;
  private final Map<Thread, Connection> open = new ConcurrentHashMap<>();

  SqliteStatements(Stores stores) throws SQLException {
    file = stores.sqlite();
    try (Statement make = connection().createStatement()) {
      make.execute(MAKE);
    } finally {
      threadEnds();
    }
  }

  private Connection connection() throws SQLException {
    Connection mine = open.get(Thread.currentThread());
    if (mine == null) {
      mine = DriverManager.getConnection(URL + file);
      try (Statement settings = mine.createStatement()) {
        settings.execute("pragma busy_timeout = 20000");
        settings.execute("pragma journal_mode = wal");
        settings.execute("pragma synchronous = normal");
      }
      open.put(Thread.currentThread(), mine);
    }
    return mine;
  }

  @Override
  public Grip grip(String lock) throws SQLException {
    Connection connection = connection();
    long holder = Thread.currentThread().getId();
    PreparedStatement take = connection.prepareStatement(TAKE);
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
    Connection mine = open.remove(Thread.currentThread());
    if (mine != null) {
      mine.close();
    }
  }

  @Override
  public void close() {
    // Each thread has closed its own.
  }
}
