package io.mortise.internal.session;

import io.mortise.spi.Renewal;
import io.mortise.spi.SessionNotification;
import java.time.Duration;
import java.util.List;

/**
 * A renewal on its way, and what the clocks showed before it left.
 *
 * @param at the local time at which it was sent
 * @param countsFrom the local time from which the session lives by it: when it was sent, or where
 *     others judge the session by its beat, when that beat was sent first
 * @param suspended how long the host had slept by the latter, in nanoseconds
 * @param beat what the store compares
 * @param ttl how long the session lives by it
 * @param seen the notifications that it confirms
 */
record InFlightRenewal(
    long at, long countsFrom, long suspended, long beat, Duration ttl, List<Long> seen) {
  /** One with the session's pending beat, which may have been sent before. */
  static InFlightRenewal of(LiveSession session, long at, long suspended, List<Long> seen) {
    long beat = session.pendingBeat;
    return session.store().isJudgedByBeat()
        ? new InFlightRenewal(
            at, session.beatSentAt, session.beatSuspended, beat, session.pendingTtl, seen)
        : new InFlightRenewal(at, at, suspended, beat, session.pendingTtl, seen);
  }

  /** What has gone is told first: as long as that goes on, no lease may get more time. */
  static boolean moreHasGone(Renewal.Renewed answer) {
    List<Renewal.NumberedNotification> notifications = answer.notifications();
    return answer.more()
        && !notifications.isEmpty()
        && notifications.get(notifications.size() - 1).notification()
            instanceof SessionNotification.HoldEnded;
  }
}
