package io.mortise.jdbc.table;

import io.mortise.spi.AttemptId;
import io.mortise.support.table.LockRecord.HoldEntry;
import java.sql.ResultSet;
import java.sql.SQLException;

/** A hold as it was read, from the lock's own row or from one of its own. */
final class HoldRow extends HoldEntry {
  /** The bit of the column told by which the owner knows that others want the lock. */
  static final int TOLD = 1;

  /** The bit of the column told by which a notification was left of the hold. */
  private static final int NOTED = 2;

  /** By which the holders are ordered. */
  final long place;

  private HoldRow(AttemptId attempt, int weight, String label, long since, long place) {
    super(attempt, weight, label, since);
    this.place = place;
  }

  static HoldRow read(ResultSet row, String attempt, int weight, long place) throws SQLException {
    HoldRow hold =
        new HoldRow(
            AttemptId.parse(attempt),
            weight,
            row.getString("label"),
            row.getLong("since_us"),
            place);
    hold.token = row.getLong("token");
    hold.tokens = row.getInt("tokens");
    hold.atMostUntil = row.getLong("free_us");
    hold.atLeastUntil = row.getLong("shut_us");
    hold.told = (row.getInt("told") & TOLD) != 0;
    hold.noted = (row.getInt("told") & NOTED) != 0;
    hold.evicted = row.getInt("evicted") != 0;
    return hold;
  }

  static HoldRow read(ResultSet row) throws SQLException {
    return read(row, row.getString("attempt"), row.getInt("weight"), row.getLong("place"));
  }

  /** The column told. */
  static int told(HoldEntry hold) {
    return (hold.told ? TOLD : 0) | (hold.noted ? NOTED : 0);
  }
}
