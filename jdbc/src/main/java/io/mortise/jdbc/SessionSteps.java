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
import org.jspecify.annotations.Nullable;

/** What becomes of sessions. Each method runs in a transaction of its own, which locks no lock. */
final class SessionSteps {
  private static final String EXPIRY = "expiry";

  /** How much news a renewal brings at most. */
  private static final int TOLD = LockSteps.STEPS;

  private final SessionRows rows;

  SessionSteps(SessionRows rows) {
    this.rows = rows;
  }

  /**
   * See {@link io.mortise.spi.StoreSession#renew}.
   *
   * @param ttl from now on
   * @param strictly whether a session that has expired by the clock lives all the same
   */
  Renewal renew(
      SessionSpec spec,
      long previous,
      long next,
      List<Long> seen,
      Duration ttl,
      long now,
      boolean strictly)
      throws SQLException {
    String id = spec.id().value();
    long lives = HoldRow.micros(ttl);
    long expiresAt = now + lives;
    long dead = strictly ? 0 : now;
    if (!rows.renewSession(id, previous, next, expiresAt, lives, dead)) {
      SessionRows.Session session = rows.session(id);
      if (session != null && session.expiresAt() > dead) {
        return new Renewal.Lost("another process renews the same session");
      }
      rows.deleteSession(id);
      rows.forgetAll(id);
      if (previous != 0) {
        return new Renewal.Lost("the session expired in the store");
      }
      rows.insertSession(id, next, expiresAt, lives, spec.client().encoded());
    }
    if (!seen.isEmpty()) {
      rows.forget(id, next, seen);
    }
    return renewed(id, now, rows.news(id, 0, TOLD + 1));
  }

  /**
   * The same of a session that lives, in one round trip where that can be.
   *
   * @return null if {@link #renew} has to look, in a transaction after this
   */
  @Nullable Renewal keep(
      SessionId session, long previous, long next, List<Long> seen, Duration ttl, boolean strictly)
      throws SQLException {
    String id = session.value();
    SessionRows.Kept kept =
        previous == 0
            ? null
            : rows.keep(id, previous, next, HoldRow.micros(ttl), strictly, seen, TOLD + 1);
    return kept == null ? null : renewed(id, kept.now(), kept.news());
  }

  private Renewal renewed(String id, long now, List<Renewal.Item> oldest) throws SQLException {
    boolean more = oldest.size() > TOLD;
    // What has gone comes first, even if much else happened before it.
    Stream<Renewal.Item> gone =
        more
            ? rows.gone(id, TOLD).stream()
            : oldest.stream().filter(item -> item.news() instanceof News.Gone);
    Stream<Renewal.Item> rest = oldest.stream().filter(item -> !(item.news() instanceof News.Gone));
    return new Renewal.Renewed(now, Stream.concat(gone, rest).limit(TOLD).toList(), more);
  }

  /**
   * What became of it, and the session if it may have been renewed before the clock was set back.
   */
  record Judged(Verdict verdict, SessionRows.@Nullable Session fromTheFuture) {
    private static final Judged ENDED = new Judged(new Verdict.SessionEnded(), null);

    private static Judged alive(SessionRows.Session found, long now) {
      Duration left = Duration.of(found.left(now), ChronoUnit.MICROS);
      return new Judged(
          new Verdict.Alive(found.beat(), left), found.isFromTheFuture(now) ? found : null);
    }
  }

  /** See {@link io.mortise.spi.LockStore#judge}. */
  Judged judge(SessionId session, long now) throws SQLException {
    if (rows.judgeSession(session.value(), now)) {
      rows.forgetAll(session.value());
      return Judged.ENDED;
    }
    SessionRows.Session found = rows.session(session.value());
    return found == null ? Judged.ENDED : Judged.alive(found, now);
  }

  /**
   * Gives a session that seems to last for longer than its TTL just that much: it was renewed
   * before the clock was set back, and if it is dead, it would seem alive until the clock has
   * caught up. One that lives has renewed since, or extends it.
   *
   * @param found as it was read in a transaction before this one: then a clock that was not set
   *     back cannot be behind it
   */
  Verdict shorten(SessionId session, SessionRows.Session found, long now) throws SQLException {
    if (found.isFromTheFuture(now)) {
      rows.shortenSession(session.value(), found.beat(), now + found.ttl());
    }
    return Judged.alive(found, now).verdict();
  }

  /** See {@link io.mortise.internal.judge.Beats#end}. */
  boolean end(SessionId session, long beat) throws SQLException {
    boolean ended = rows.endSession(session.value(), beat) || rows.session(session.value()) == null;
    if (ended) {
      rows.forgetAll(session.value());
    }
    return ended;
  }

  /** See {@link io.mortise.internal.judge.Beats#revive}. A renewal that comes first has done it. */
  boolean revive(SessionId session, long now) throws SQLException {
    SessionRows.Session found = rows.session(session.value());
    if (found != null) {
      rows.shortenSession(session.value(), found.beat(), now + found.ttl());
    }
    return found != null;
  }

  /**
   * Whether these tables are used with strict expiry.
   *
   * @return null if it has to be written first, by {@link #isStrict}
   */
  @Nullable Boolean isKnownStrict(boolean wanted) throws SQLException {
    boolean strict = "strict".equals(rows.facts().get(EXPIRY));
    if (wanted && !strict) {
      return null;
    }
    return strict;
  }

  /** The same; from now on if that is wanted. */
  boolean isStrict(boolean wanted) throws SQLException {
    boolean strict = "strict".equals(rows.facts().get(EXPIRY));
    if (wanted && !strict) {
      rows.putFact(EXPIRY, "strict", true);
    }
    return strict || wanted;
  }

  /** See {@link io.mortise.spi.StoreSession#close}. */
  void close(SessionId session) throws SQLException {
    rows.deleteSession(session.value());
    rows.forgetAll(session.value());
    rows.giveConnectionLockBack(session.value());
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
