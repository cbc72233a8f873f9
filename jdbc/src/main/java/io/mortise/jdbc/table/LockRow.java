package io.mortise.jdbc.table;

import io.mortise.LockName;
import io.mortise.internal.table.LockRecord;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply.AttemptState;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * The row of one lock. A holder of the whole capacity is its {@link #owner}, kept in the row, so
 * that a mutex costs one statement; holders of a part are rows of their own.
 */
final class LockRow extends LockRecord {
  @Nullable HoldEntry owner;

  /** Of the next holder that gets a row. */
  long nextPlace;

  LockRow(LockName name, int capacity, long now) {
    super(name, capacity);
    this.touched = now;
  }

  static LockRow read(ResultSet row) throws SQLException {
    LockRow lock = new LockRow(LockName.of(row.getString("name")), row.getInt("capacity"), 0);
    lock.used = row.getLong("used");
    String owner = row.getString("owner");
    // One that has released it may stand there still.
    if (owner != null && lock.used > 0) {
      lock.owner = HoldRow.read(row, owner, lock.capacity, 0);
    }
    lock.lastToken = row.getLong("last_token");
    lock.nextPlace = row.getLong("next_place");
    lock.nextTicket = row.getLong("next_ticket");
    lock.waiters = row.getLong("waiters");
    lock.shutUntil = row.getLong("closed_us");
    lock.touched = row.getLong("touched_us");
    String ended = row.getString("ended");
    if (ended != null) {
      lock.lastEnd =
          new EndedAttempt(
              AttemptId.parse(ended),
              AttemptState.valueOf(row.getString("ended_was")),
              SessionRepository.reason(row.getString("ended_how")));
    }
    return lock;
  }
}
