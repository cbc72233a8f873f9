package io.mortise.jdbc.table;

import io.mortise.LockName;
import io.mortise.Terms;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/** An attempt in the queue: what it asked for, and when. */
public record WaitRow(
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

  public static WaitRow of(Request.Acquire request, long ticket, long now) {
    Terms terms = request.terms();
    return new WaitRow(
        request.attempt().encoded(),
        ticket,
        request.mode().weight(),
        request.tokens(),
        request.tokenFloor(),
        length(terms.atMost()),
        length(terms.atLeast()),
        terms.label(),
        now);
  }

  String session() {
    return attempt.substring(0, SessionId.LENGTH);
  }

  /** The request as it was when it was queued. */
  Request.Acquire request(LockName name, int capacity) {
    return new Request.Acquire(
        name,
        AttemptId.parse(attempt),
        new Mode(weight, capacity),
        true,
        new Terms(duration(atMost), duration(atLeast), label),
        tokens,
        tokenFloor,
        null);
  }

  /** Microseconds, or -1 for none. */
  public static long length(@Nullable Duration time) {
    return time == null ? -1 : HoldRow.micros(time);
  }

  private static @Nullable Duration duration(long micros) {
    return micros < 0 ? null : Duration.of(micros, ChronoUnit.MICROS);
  }
}
