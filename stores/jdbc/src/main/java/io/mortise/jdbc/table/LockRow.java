package io.mortise.jdbc.table;

import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply.AttemptState;
import io.mortise.support.table.LockRecord;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;
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

  private static final Set<String> STATES =
      Arrays.stream(AttemptState.values()).map(Enum::name).collect(Collectors.toSet());

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
    String was = row.getString("ended_was");
    // A newer version may know further states.
    if (ended != null && STATES.contains(was)) {
      lock.lastEnd =
          new EndedAttempt(
              AttemptId.parse(ended),
              AttemptState.valueOf(was),
              SessionRepository.reason(row.getString("ended_how")));
    }
    return lock;
  }
}
