package io.mortise.jdbc.table;

import io.mortise.HoldTerms;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.support.table.LockRecord;
import io.mortise.support.table.LockRecord.WaiterEntry;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** An attempt in the queue, with its request and its time. */
record WaitRow(
    String attempt,
    long ticket,
    int weight,
    int tokens,
    long tokenFloor,
    long atMost,
    long atLeast,
    String label,
    long since) {
  static WaitRow read(ResultSet row) throws SQLException {
    return new WaitRow(
        row.getString("attempt"),
        row.getLong("ticket"),
        row.getInt("weight"),
        row.getInt("tokens"),
        row.getLong("token_floor"),
        row.getLong("at_most_us"),
        row.getLong("at_least_us"),
        row.getString("label"),
        row.getLong("since_us"));
  }

  static WaitRow of(WaiterEntry waiter) {
    Request.Acquire request = waiter.request();
    HoldTerms terms = request.terms();
    return new WaitRow(
        request.attempt().encoded(),
        waiter.ticket(),
        request.mode().weight(),
        request.tokens(),
        request.tokenFloor(),
        length(terms.atMost()),
        length(terms.atLeast()),
        terms.label(),
        waiter.since());
  }

  String session() {
    return attempt.substring(0, SessionId.LENGTH);
  }

  WaiterEntry entry(LockRow lock) {
    Request.Acquire request =
        new Request.Acquire(
            lock.name,
            AttemptId.parse(attempt),
            new Mode(weight, lock.capacity),
            true,
            new HoldTerms(duration(atMost), duration(atLeast), label),
            tokens,
            tokenFloor,
            null);
    return new WaiterEntry(request, ticket, since);
  }

  /** Microseconds, or -1 for none. */
  static long length(@Nullable Duration time) {
    return time == null ? -1 : LockRecord.micros(time);
  }

  private static @Nullable Duration duration(long micros) {
    return micros < 0 ? null : LockRecord.duration(micros);
  }
}
