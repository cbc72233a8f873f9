package io.mortise.admin;

import io.mortise.annotation.Beta;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * What a store knows of one lock at one moment.
 *
 * @param permits how many permits the semaphore of that name has; empty for locks and read/write
 *     locks
 * @param lastToken the greatest fencing token granted for this name; 0 if none is known, or {@link
 *     LockQuery.Detail#SUMMARY} was asked for
 * @param shutFor how long nobody can be granted the lock; zero if it is not shut. A holder whose
 *     session is over shuts it until the end of its at-least time
 * @param holders in the order in which they were granted. A summary has the first at most, and not
 *     its session
 * @param waiters in the order in which they will be granted; at most 1000. A summary has none
 * @param holderCount how many hold it, with those that are not listed; {@link #SOME} if a summary
 *     did not count the holders of a semaphore
 * @param waiterCount how many wait, with those that are not listed
 * @param lastEnd how the hold that ended last has ended; null if the store does not tell. SQL,
 *     Redis, Consul, DynamoDB, etcd, NATS and the store in memory keep one end of each lock, which
 *     the end of a wait replaces. A quorum, ZooKeeper and plain keys keep none
 */
public record LockInfo(
    String name,
    OptionalInt permits,
    long lastToken,
    Duration shutFor,
    List<LockParticipant> holders,
    List<LockParticipant> waiters,
    @Beta int holderCount,
    @Beta int waiterCount,
    @Beta @Nullable EndedHold lastEnd) {
  /** A number that is at least one and was not counted. */
  @Beta public static final int SOME = -1;

  /** Copies the lists. No fewer hold or wait than are listed. */
  @Beta
  public LockInfo {
    holders = List.copyOf(holders);
    waiters = List.copyOf(waiters);
    holderCount = holderCount == SOME ? SOME : Math.max(holderCount, holders.size());
    waiterCount = waiterCount == SOME ? SOME : Math.max(waiterCount, waiters.size());
  }

  /**
   * What {@link LockQuery.Detail#SUMMARY} tells. Leaves out how long a lock is shut that is held.
   *
   * @param first the first holder; null if there is none or it is not known
   */
  @Beta
  public static LockInfo summary(
      String name,
      OptionalInt permits,
      int holders,
      int waiters,
      @Nullable LockParticipant first,
      Duration shutFor) {
    return new LockInfo(
        name,
        permits,
        0,
        holders == 0 ? shutFor : Duration.ZERO,
        first == null ? List.of() : List.of(first),
        List.of(),
        holders,
        waiters,
        null);
  }

  /** What the lock is. A summary knows nothing of sessions, nor does this. */
  public LockState state() {
    return LockState.of(holderCount, waiterCount, shutFor);
  }
}
