package io.mortise.jdbc.table;

import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * The row of one lock, and what a step makes of it. Times are microseconds of the store's clock.
 *
 * <p>A holder of the whole capacity is {@link #owner}, kept in the row, so that a mutex costs one
 * statement; holders of a part are rows of their own.
 */
public final class LockRow {
  public static final long NEVER = Long.MAX_VALUE;

  public final String name;
  public int capacity;
  long used;
  public @Nullable HoldRow owner;
  public long lastToken;
  long nextPlace;
  long nextTicket;
  public long waiters;
  public long closedUntil;
  long touched;
  @Nullable String ended;
  Reply.AttemptState endedWas = Reply.AttemptState.HELD;
  Reply.EndReason endedHow = Reply.EndReason.RELEASED;

  /** Whether the row differs from the table's. */
  boolean dirty;

  LockRow(String name, int capacity, long now) {
    this.name = name;
    this.capacity = capacity;
    this.touched = now;
  }

  static LockRow read(ResultSet row) throws SQLException {
    LockRow lock = new LockRow(row.getString("name"), row.getInt("capacity"), 0);
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
    lock.closedUntil = row.getLong("closed_us");
    lock.touched = row.getLong("touched_us");
    lock.ended = row.getString("ended");
    lock.endedWas = Reply.AttemptState.valueOf(row.getString("ended_was"));
    lock.endedHow = Reply.EndReason.valueOf(row.getString("ended_how"));
    return lock;
  }

  boolean fits(Mode mode) {
    return used + mode.weight() <= capacity;
  }

  public boolean isIdle(long now) {
    return used == 0 && waiters == 0 && closedUntil <= now;
  }

  void remember(String attempt, Reply.AttemptState attemptState, Reply.EndReason endReason) {
    ended = attempt;
    endedWas = attemptState;
    endedHow = endReason;
    dirty = true;
  }
}
