package io.mortise.internal.session;

import io.mortise.spi.Renewal;
import io.mortise.spi.SessionNotification;
import java.time.Duration;
import java.util.List;

/**
 * A renewal in flight, with the clocks' times before it left.
 *
 * @param at the local time at which it was sent
 * @param countsFrom the local time from which its TTL counts: its sending, or if others judge the
 *     session by its beat, the first sending of that beat
 * @param suspended the host's time of suspension by {@code countsFrom}, in nanoseconds
 * @param beat the beat that the store compares
 * @param ttl the TTL that it requests
 * @param seen the notifications that it confirms
 */
record InFlightRenewal(
    long at, long countsFrom, long suspended, long beat, Duration ttl, List<Long> seen) {
  /** A renewal with the session's pending beat, which may have been sent before. */
  static InFlightRenewal of(LiveSession session, long at, long suspended, List<Long> seen) {
    long beat = session.pendingBeat;
    return session.store().isJudgedByBeat()
        ? new InFlightRenewal(
            at, session.beatSentAt, session.beatSuspended, beat, session.pendingTtl, seen)
        : new InFlightRenewal(at, at, suspended, beat, session.pendingTtl, seen);
  }

  /**
   * Whether more ended holds are to be reported. They come first, and until all are known no lease
   * may get more time.
   */
  static boolean moreHasGone(Renewal.Renewed answer) {
    List<Renewal.NumberedNotification> notifications = answer.notifications();
    return answer.more()
        && !notifications.isEmpty()
        && notifications.get(notifications.size() - 1).notification()
            instanceof SessionNotification.HoldEnded;
  }
}
