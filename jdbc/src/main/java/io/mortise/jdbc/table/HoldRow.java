package io.mortise.jdbc.table;

import io.mortise.Terms;
import io.mortise.spi.SessionId;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;

/** A hold, in the lock's own row or in one of its own. */
public final class HoldRow {
  public static final int TOLD = 1;
  private static final int NOTED = 2;

  public final String attempt;
  public final long since;
  public final String label;
  final long place;
  public int weight;
  public long token;
  int tokens;
  public long atMostUntil = LockRow.NEVER;
  long atLeastUntil;

  /** Whether it is known that others want the lock. */
  boolean told;

  /** Whether a notification was left of this hold. */
  boolean noted;

  boolean evicted;

  public HoldRow(String attempt, int weight, String label, long since, long place) {
    this.attempt = attempt;
    this.weight = weight;
    this.label = label;
    this.since = since;
    this.place = place;
  }

  static HoldRow read(ResultSet row, String attempt, int weight, long place) throws SQLException {
    HoldRow hold =
        new HoldRow(attempt, weight, row.getString("label"), row.getLong("since_us"), place);
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

  int toldAsNumber() {
    return (told ? TOLD : 0) | (noted ? NOTED : 0);
  }

  public String session() {
    return attempt.substring(0, SessionId.LENGTH);
  }

  boolean isOver(long now) {
    return atMostUntil <= now;
  }

  void restart(Terms terms, long now) {
    if (terms.atMost() != null) {
      atMostUntil = now + micros(terms.atMost());
    }
    if (terms.atLeast() != null) {
      atLeastUntil = now + micros(terms.atLeast());
    }
  }

  public static long micros(Duration duration) {
    return Math.addExact(
        Math.multiplyExact(duration.getSeconds(), 1_000_000L), duration.getNano() / 1000);
  }
}
