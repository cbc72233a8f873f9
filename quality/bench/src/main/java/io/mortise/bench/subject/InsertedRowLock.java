package io.mortise.bench.subject;

import io.mortise.bench.subject.Subjects.SubjectStore;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/**
 * A row that is inserted to lock and deleted to unlock, with a connection per thread: the two
 * statements that a lock in a table needs, each committed by itself.
 */
final class InsertedRowLock extends DatabaseSubject {
  private static final String TAKE =
      "plain_lock (name, holder, since) values (?, ?, current_timestamp)";
  private static final String GIVE = "delete from plain_lock where name = ? and holder = ?";

  InsertedRowLock(StoreUrls storeUrls, SubjectStore storeKind) throws SQLException {
    super(new BenchDatabase(storeUrls, storeKind).prepare());
  }

  @Override
  public LockHandle lockHandle(String lock) throws SQLException {
    Connection connection = benchDatabase.connection();
    long holder = Thread.currentThread().getId();
    PreparedStatement take = connection.prepareStatement(benchDatabase.insertOnce(TAKE));
    take.setString(1, lock);
    take.setLong(2, holder);
    PreparedStatement release = connection.prepareStatement(GIVE);
    release.setString(1, lock);
    release.setLong(2, holder);
    return new LockHandle() {
      @Override
      public boolean take(long waitMillis) throws SQLException {
        return take.executeUpdate() == 1;
      }

      @Override
      public void release() throws SQLException {
        PlainLock.check(release.executeUpdate(), lock);
      }
    };
  }
}
