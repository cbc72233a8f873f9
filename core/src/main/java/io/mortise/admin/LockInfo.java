package io.mortise.admin;

import io.mortise.annotation.Beta;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * A snapshot of one lock, as the store knows it.
 *
 * @param permits how many permits the semaphore of that name has; empty for locks and read/write
 *     locks
 * @param lastToken the greatest fencing token granted for this name; 0 if none is known, or in a
 *     {@link LockQuery.Detail#SUMMARY}
 * @param shutFor how long nobody can be granted the lock; zero if it is not shut. A holder whose
 *     session is over shuts it until the end of its at-least time
 * @param holders in the order of their grants. A summary has at most the first, without its session
 * @param waiters in the order of their future grants; at most 1000. A summary has none
 * @param holderCount the number of holders, including those not listed; {@link #SOME} if a summary
 *     did not count the holders of a semaphore
 * @param waiterCount the number of waiters, including those not listed
 * @param lastEnd the end of the hold that ended last; null if the store keeps none. SQL, Redis,
 *     Consul, DynamoDB, etcd, NATS and the store in memory keep one end of each lock, which the end
 *     of a wait replaces. A quorum, ZooKeeper and plain keys keep none
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
   * A snapshot in {@link LockQuery.Detail#SUMMARY}. Omits the shut time of a lock that is held.
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

  /** The state of the lock. Ignores sessions, as a summary does not know them. */
  public LockState state() {
    return LockState.of(holderCount, waiterCount, shutFor);
  }
}
