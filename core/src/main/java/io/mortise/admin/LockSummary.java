package io.mortise.admin;

import io.mortise.annotation.Beta;
import java.time.Duration;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * A line of a survey: what a store tells of one lock without looking at its holders and waiters one
 * by one. It knows nothing of sessions, so a lock whose holder is dead is {@link LockState#HELD}
 * here; {@link LockAdmin#find} tells, and so does {@link LockAdmin#sessions}.
 *
 * @param permits how many permits the semaphore of that name has; empty for locks and read/write
 *     locks
 * @param holders how many hold it; {@link #SOME} if the holders of a semaphore were not counted
 * @param waiters how many wait for it
 * @param firstAttempt of the first holder, see {@link LockParticipant#attempt()}; null if there is
 *     none, or the store does not tell it of a lock that several may hold
 * @param firstLabel of the first holder; empty if there is none, or the store does not tell it
 * @param firstSince how long the first holder has held, by the store's time; zero if there is none,
 *     or the store does not tell it
 * @param shutFor how long nobody can be granted the lock; zero if it is not shut, or held
 */
@Beta
public record LockSummary(
    String name,
    OptionalInt permits,
    int holders,
    int waiters,
    @Nullable String firstAttempt,
    String firstLabel,
    Duration firstSince,
    Duration shutFor) {
  /**
   * A number of holders that is at least one and was not counted. A number, so that the lines of a
   * survey of many locks stay small.
   */
  public static final int SOME = -1;

  /** Leaves out how long a lock is shut that is held. */
  public LockSummary {
    shutFor = holders == 0 ? shutFor : Duration.ZERO;
  }

  /** What it is, sessions apart. */
  public LockState state() {
    return LockState.of(holders, waiters, shutFor);
  }
}
