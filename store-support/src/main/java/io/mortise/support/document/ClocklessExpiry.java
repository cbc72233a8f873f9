package io.mortise.support.document;

import io.mortise.spi.AttemptId;
import io.mortise.spi.SessionId;
import io.mortise.spi.time.Ticker;
import io.mortise.support.internal.session.AtLeastMonitor;
import io.mortise.support.liveness.BeatMonitor;
import io.mortise.support.table.LockRecord;
import io.mortise.support.table.LockRecord.AtLeastTime;
import io.mortise.support.table.SessionDocument;
import java.time.Duration;

/**
 * Replaces the clock of a server that has none. A session ends when this process has seen no
 * renewal of it for a whole TTL. A hold that an operator has closed ends when this process has seen
 * it for the same time. An at-least time is over when this process has known of it for as long.
 * Thread-safe.
 *
 * <p>It counts renewals, not beats: a renewal whose answer was lost is sent again with the same
 * beat, and its owner counts from the sending of the last of them
 * (invariants.md#validity-from-send).
 *
 * <p>A sweep reads all sessions in turn. Its observations are kept for a whole round, apart from
 * those of sessions that steps of locks have met.
 */
final class ClocklessExpiry {
  private final DocumentRules rules;
  private final BeatMonitor<SessionId> renewals;
  private final BeatMonitor<SessionId> swept;
  private final BeatMonitor<AttemptId> evictions;
  private final AtLeastMonitor atLeasts;

  ClocklessExpiry(Ticker ticker, DocumentRules rules) {
    this.rules = rules;
    this.renewals = new BeatMonitor<>(ticker);
    this.swept = BeatMonitor.ofRounds(ticker);
    this.evictions = new BeatMonitor<>(ticker);
    this.atLeasts = new AtLeastMonitor(ticker);
  }

  /** Records a session that was read just now; to be called after it was received. */
  void observe(SessionId id, SessionDocument session) {
    observe(id, session, renewals, swept);
  }

  /**
   * Sets how long a session that was read before still lives, without recording it.
   *
   * @return false if another renewal was observed since, or none
   */
  boolean observeRemembered(SessionId id, SessionDocument session) {
    Duration left =
        renewals.leftIfSeen(id, rules.countsRenewals() ? session.renewals() : session.beat());
    if (left != null) {
      session.observed(left);
    }
    return left != null;
  }

  /** Records a session that a sweep has read. */
  void observeSwept(SessionId id, SessionDocument session) {
    observe(id, session, swept, renewals);
  }

  private void observe(
      SessionId id,
      SessionDocument session,
      BeatMonitor<SessionId> taking,
      BeatMonitor<SessionId> besides) {
    if (!session.hasEnded()) {
      long beat = rules.countsRenewals() ? session.renewals() : session.beat();
      Duration left = taking.left(id, beat, session.ttl());
      Duration other = besides.leftIfSeen(id, beat);
      session.observed(other == null || left.compareTo(other) < 0 ? left : other);
    }
  }

  /** Begins a new round: the sweep has read all sessions. */
  void endRound() {
    swept.endRound();
  }

  /**
   * Records a closed hold that was read just now.
   *
   * @param ttl the TTL of its session: its owner learns of the eviction by its next renewal, or
   *     relies on the hold for no longer than that; zero if the session is gone, or not known yet
   * @return for how many microseconds the hold still stands
   */
  long shutFor(AttemptId hold, Duration ttl) {
    return ttl.isZero() ? LockRecord.NEVER : LockRecord.micros(evictions.left(hold, 0, ttl));
  }

  /**
   * Records an at-least time that was read, or whose start was written, just now.
   *
   * @return for how many microseconds it goes on; 0 for a millisecond
   */
  long atLeastLeft(AttemptId hold, AtLeastTime time) {
    long start = rules.countsFromLastStart() ? time.start() : 0;
    Duration left = atLeasts.left(hold, start, time.length());
    return left.isZero() ? 0 : LockRecord.micros(left.plusNanos(999));
  }
}
