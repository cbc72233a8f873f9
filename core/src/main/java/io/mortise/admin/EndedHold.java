package io.mortise.admin;

import io.mortise.annotation.Beta;

/**
 * The end of a hold.
 *
 * <p>It has no time and no client. A store keeps the last end so that a retried attempt learns the
 * fate of its hold, which needs neither. A time would be one more field of each lock record,
 * written with each release, and a client's name is kept with its session only. The console's
 * history records both, for the ends that it has seen.
 *
 * @param attempt the attempt of the hold, see {@link LockParticipant#attempt()}
 * @param cause the cause of the end
 */
@Beta
public record EndedHold(String attempt, EndCause cause) {
  /** The causes of a hold's end. */
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
