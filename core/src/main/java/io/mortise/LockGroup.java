package io.mortise;

import java.time.Duration;
import java.util.Optional;

/**
 * Several locks, all or none: taken one by one in the order of their names' bytes, whatever order
 * the caller gave, so that two groups cannot wait for each other. Thread-safe.
 */
public interface LockGroup {
  /**
   * Waits until all are held. Blocks.
   *
   * @throws InterruptedException if this thread is interrupted; none is held then
   * @throws LockException as {@link DistributedLock#acquire()}; none is held then
   */
  GroupLease acquire() throws InterruptedException;

  /**
   * Waits at most so long for all together. Blocks.
   *
   * @throws LockTimeoutException if they could not be had in time; none is held then
   * @throws InterruptedException if this thread is interrupted; none is held then
   * @throws LockException as {@link DistributedLock#acquireWithin}; none is held then
   */
  GroupLease acquireWithin(Duration wait) throws InterruptedException;

  /**
   * Tries once. Blocks for a round trip per lock.
   *
   * @return empty if one of them was taken; none is held then
   * @throws LockException as {@link DistributedLock#tryAcquire()}; none is held then
   */
  Optional<GroupLease> tryAcquire();

  /**
   * As {@link #acquireWithin}, with a timeout as an outcome instead of an exception.
   *
   * @return empty if they could not be had in time; none is held then
   * @throws IllegalArgumentException if the time is negative
   * @throws InterruptedException if this thread is interrupted; none is held then
   * @throws LockException as {@link DistributedLock#tryAcquire(Duration)}; none is held then
   */
  Optional<GroupLease> tryAcquire(Duration wait) throws InterruptedException;
}
