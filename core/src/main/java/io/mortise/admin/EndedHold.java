package io.mortise.admin;

import io.mortise.annotation.Beta;

/**
 * How a hold has ended.
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
