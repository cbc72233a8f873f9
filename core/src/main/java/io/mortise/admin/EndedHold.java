package io.mortise.admin;

import io.mortise.annotation.Beta;

/**
 * How a hold has ended.
 *
 * <p>It has no time and no client. A store keeps the last end so that an attempt that is sent again
 * learns what has become of its hold, which needs neither. A time would be one more field of each
 * lock record, written with each release, and a client's name is kept with its session only. The
 * history of the console tells both, of the ends that it has seen.
 *
 * @param attempt of the hold, see {@link LockParticipant#attempt()}
 * @param cause what ended it
 */
@Beta
public record EndedHold(String attempt, EndCause cause) {
  /** What ended a hold. */
  public enum EndCause {
    /** Its holder released it. */
    RELEASED,
    /** Its at-most time was over. */
    AT_MOST,
    /** An operator evicted it. */
    EVICTED,
    /** Its session had expired, and a contender or a sweep ended it. */
    SESSION_EXPIRED
  }
}
