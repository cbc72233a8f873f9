package io.mortise.admin;

import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;

/**
 * What a store knows of one lock at one moment.
 *
 * @param permits how many permits the semaphore of that name has; empty for locks and read/write
 *     locks
 * @param lastToken the greatest fencing token granted for this name; 0 if none is known
 * @param shutFor how long nobody can be granted the lock; zero if it is not shut. A holder whose
 *     session is over shuts it until the end of its at-least time
 * @param holders in the order in which they were granted
 * @param waiters in the order in which they will be granted; at most 1000
 */
public record LockInfo(
    String name,
    OptionalInt permits,
    long lastToken,
    Duration shutFor,
    List<LockParticipant> holders,
    List<LockParticipant> waiters) {
  /** Copies the lists. */
  public LockInfo {
    holders = List.copyOf(holders);
    waiters = List.copyOf(waiters);
  }

  /** What the lock is. */
  public LockState state() {
    return LockState.of(holders.size(), waiters.size(), shutFor);
  }
}
