package io.mortise.jdbc;

import io.mortise.spi.News;
import io.mortise.spi.Renewal;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.Verdict;
import java.sql.SQLException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.stream.Stream;

/** What becomes of sessions. Each method runs in a transaction of its own, which locks no lock. */
final class SessionSteps {
  private final Rows rows;

  SessionSteps(Rows rows) {
    this.rows = rows;
  }

  /** See {@link io.mortise.spi.StoreSession#renew}. */
  Renewal renew(SessionSpec spec, long previous, long next, List<Long> seen, long now)
      throws SQLException {
    String id = spec.id().value();
    long expiresAt = now + HoldRow.micros(spec.ttl());
    if (!rows.renewSession(id, previous, next, expiresAt, now)) {
      Rows.Session session = rows.session(id);
      if (session != null && session.expiresAt() > now) {
        return new Renewal.Lost("another process renews the same session");
      }
      close(spec.id());
      if (previous != 0) {
        return new Renewal.Lost("the session expired in the store");
      }
      rows.insertSession(id, next, expiresAt, spec.client().encoded());
    }
    for (long known : seen) {
      rows.forget(id, known);
    }
    List<Renewal.Item> oldest = rows.news(id, 0, LockSteps.STEPS + 1);
    boolean more = oldest.size() > LockSteps.STEPS;
    // What has gone comes first, even if much else happened before it.
    Stream<Renewal.Item> gone =
        more
            ? rows.gone(id, LockSteps.STEPS).stream()
            : oldest.stream().filter(item -> item.news() instanceof News.Gone);
    Stream<Renewal.Item> rest = oldest.stream().filter(item -> !(item.news() instanceof News.Gone));
    return new Renewal.Renewed(
        now, Stream.concat(gone, rest).limit(LockSteps.STEPS).toList(), more);
  }

  /** See {@link io.mortise.spi.LockStore#judge}. */
  Verdict judge(SessionId session, long now) throws SQLException {
    if (rows.judgeSession(session.value(), now)) {
      rows.forgetAll(session.value());
      return new Verdict.SessionEnded();
    }
    Rows.Session found = rows.session(session.value());
    return found == null
        ? new Verdict.SessionEnded()
        : new Verdict.Alive(
            found.beat(), Duration.of(Math.max(0, found.expiresAt() - now), ChronoUnit.MICROS));
  }

  /** See {@link io.mortise.spi.StoreSession#close}. */
  void close(SessionId session) throws SQLException {
    rows.deleteSession(session.value());
    rows.forgetAll(session.value());
  }

  /** Removes expired sessions and forgotten news, at most so many. */
  int sweep(int budget, long now) throws SQLException {
    List<String> expired = rows.expiredSessions(now, budget);
    for (String session : expired) {
      // Again by time: it may have been renewed since it was read.
      if (rows.judgeSession(session, now)) {
        rows.forgetAll(session);
      }
    }
    return expired.size()
        + (expired.size() < budget ? rows.forgetOrphans(budget - expired.size()) : 0);
  }
}
