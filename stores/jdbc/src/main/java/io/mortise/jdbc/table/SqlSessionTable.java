package io.mortise.jdbc.table;

import io.mortise.spi.Renewal;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.SessionVerdict;
import io.mortise.support.internal.session.Refusals;
import io.mortise.support.table.LockRecord;
import io.mortise.support.table.LockTable;
import java.sql.SQLException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Starts, renews, judges and ends sessions. Each method runs in a transaction of its own, which
 * locks no lock's row.
 */
public final class SqlSessionTable {
  private static final String EXPIRY = "expiry";

  /** How many notifications a renewal brings at most. */
  private static final int TOLD = LockTable.STEPS;

  private final SessionRepository repository;

  SqlSessionTable(SessionRepository repository) {
    this.repository = repository;
  }

  /**
   * See {@link io.mortise.spi.StoreSession#renew}.
   *
   * @param ttl from now on
   * @param strictly whether a session that has expired by the clock lives all the same
   */
  public Renewal renew(
      SessionSpec spec,
      long previous,
      long next,
      List<Long> seen,
      Duration ttl,
      long now,
      boolean strictly)
      throws SQLException {
    String id = spec.id().value();
    long lives = LockRecord.micros(ttl);
    long expiresAt = now + lives;
    long dead = strictly ? 0 : now;
    if (!repository.renewSession(id, previous, next, expiresAt, lives, dead)) {
      SessionRepository.SessionRow sessionRow = repository.session(id);
      if (sessionRow != null && sessionRow.expiresAt() > dead) {
        return Refusals.RENEWED_BY_ANOTHER;
      }
      if (sessionRow != null) {
        repository.deleteSession(id);
      }
      repository.forgetAll(id);
      if (previous != 0) {
        return Refusals.SESSION_EXPIRED;
      }
      // A far server takes a while for each statement, and ends a transaction that takes too long.
      repository.insertSession(id, next, expiresAt, lives, spec.client().encoded());
      return new Renewal.Renewed(now, List.of(), false, "");
    }
    if (!seen.isEmpty()) {
      repository.forget(id, next, seen);
    }
    return renewed(id, now, repository.notifications(id, 0, TOLD + 1));
  }

  /**
   * The same of a session that lives, in one round trip where that can be.
   *
   * @return null if {@link #renew} has to look, in a transaction after this
   */
  public @Nullable Renewal keep(
      SessionId id, long previous, long next, List<Long> seen, Duration ttl, boolean strictly)
      throws SQLException {
    String sessionId = id.value();
    SessionRepository.RenewalResult renewalResult =
        previous == 0
            ? null
            : repository.keep(
                sessionId, previous, next, LockRecord.micros(ttl), strictly, seen, TOLD + 1);
    return renewalResult == null
        ? null
        : renewed(sessionId, renewalResult.now(), renewalResult.notifications());
  }

  private Renewal renewed(String id, long now, List<Renewal.NumberedNotification> oldest)
      throws SQLException {
    boolean more = oldest.size() > TOLD;
    // Ended holds come first, even if much else happened before them.
    Stream<Renewal.NumberedNotification> gone =
        more
            ? repository.gone(id, TOLD).stream()
            : oldest.stream()
                .filter(item -> item.notification() instanceof SessionNotification.HoldEnded);
    Stream<Renewal.NumberedNotification> rest =
        oldest.stream()
            .filter(item -> !(item.notification() instanceof SessionNotification.HoldEnded));
    return new Renewal.Renewed(now, Stream.concat(gone, rest).limit(TOLD).toList(), more, "");
  }

  /** The outcome, and the session if it may have been renewed before the clock was set back. */
  public record JudgementResult(
      SessionVerdict verdict, SessionRepository.@Nullable SessionRow fromTheFuture) {
    private static final JudgementResult ENDED =
        new JudgementResult(new SessionVerdict.SessionEnded(), null);

    private static JudgementResult alive(SessionRepository.SessionRow found, long now) {
      Duration left = Duration.of(found.left(now), ChronoUnit.MICROS);
      return new JudgementResult(
          new SessionVerdict.Alive(found.beat(), left), found.isAheadOfClock(now) ? found : null);
    }
  }

  /** See {@link io.mortise.spi.LockStore#judge}. */
  public JudgementResult judge(SessionId id, long now) throws SQLException {
    if (repository.judgeSession(id.value(), now)) {
      repository.forgetAll(id.value());
      return JudgementResult.ENDED;
    }
    SessionRepository.SessionRow found = repository.session(id.value());
    return found == null ? JudgementResult.ENDED : JudgementResult.alive(found, now);
  }

  /**
   * Gives a session that seems to last for longer than its TTL just that much: it was renewed
   * before the clock was set back, and if it is dead, it would seem alive until the clock has
   * caught up. One that lives has renewed since, or extends it.
   *
   * @param found as it was read in a transaction before this one: then a clock that was not set
   *     back cannot be behind it
   */
  public SessionVerdict shorten(SessionId id, SessionRepository.SessionRow found, long now)
      throws SQLException {
    if (found.isAheadOfClock(now)) {
      repository.shortenSession(id.value(), found.beat(), now + found.ttl());
    }
    return JudgementResult.alive(found, now).verdict();
  }

  /** See {@link io.mortise.support.liveness.BeatStore#end}. */
  public boolean end(SessionId id, long beat) throws SQLException {
    boolean ended =
        repository.endSession(id.value(), beat) || repository.session(id.value()) == null;
    if (ended) {
      repository.forgetAll(id.value());
    }
    return ended;
  }

  /**
   * See {@link io.mortise.support.liveness.BeatStore#revive}. A renewal that comes first has done
   * it.
   */
  public boolean revive(SessionId id, long now) throws SQLException {
    SessionRepository.SessionRow found = repository.session(id.value());
    if (found != null) {
      repository.shortenSession(id.value(), found.beat(), now + found.ttl());
    }
    return found != null;
  }

  /**
   * Whether these tables are used with strict expiry.
   *
   * @return null if it has to be written first, by {@link #agreeOnStrictness}
   */
  public @Nullable Boolean agreedStrictness(boolean wanted) throws SQLException {
    boolean strict = "strict".equals(repository.facts().get(EXPIRY));
    if (wanted && !strict) {
      return null;
    }
    return strict;
  }

  /** The same; from now on if that is wanted. */
  public boolean agreeOnStrictness(boolean wanted) throws SQLException {
    boolean strict = "strict".equals(repository.facts().get(EXPIRY));
    if (wanted && !strict) {
      repository.putFact(EXPIRY, "strict", true);
    }
    return strict || wanted;
  }

  /** See {@link io.mortise.spi.StoreSession#close}. */
  public void close(SessionId id) throws SQLException {
    repository.deleteSession(id.value());
    repository.forgetAll(id.value());
    repository.releaseConnectionLock(id.value());
  }

  /** Removes expired sessions and their notifications, at most so many. */
  public int sweep(int budget, long now) throws SQLException {
    List<String> expired = repository.expiredSessions(now, budget);
    for (String sessionId : expired) {
      // Again by time: it may have been renewed since it was read.
      if (repository.judgeSession(sessionId, now)) {
        repository.forgetAll(sessionId);
      }
    }
    return expired.size()
        + (expired.size() < budget ? repository.forgetOrphans(budget - expired.size()) : 0);
  }
}
