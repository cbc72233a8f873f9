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
 * @param lastToken the greatest fencing token granted for this name; 0 if none is known
 * @param shutFor how long nobody can be granted the lock; zero if it is not shut. A holder whose
 *     session is over shuts it until the end of its at-least time
 * @param holders in the order in which they were granted
 * @param waiters in the order in which they will be granted; at most 1000
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
    @Beta int waiterCount,
    @Beta @Nullable EndedHold lastEnd) {
  /** Copies the lists. No fewer wait than are listed. */
  @Beta
  public LockInfo {
    holders = List.copyOf(holders);
    waiters = List.copyOf(waiters);
    waiterCount = Math.max(waiterCount, waiters.size());
  }

  /** What the lock is. */
  public LockState state() {
    return LockState.of(holders.size(), waiterCount, shutFor);
  }
}
