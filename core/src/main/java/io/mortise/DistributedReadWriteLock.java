package io.mortise;

import java.util.concurrent.locks.ReadWriteLock;

/**
 * Many readers or one writer. First come, first served over processes: readers that come after a
 * waiting writer wait behind it. The write side is the same lock as {@link LockClient#lock} of that
 * name. Thread-safe.
 */
public interface DistributedReadWriteLock {
  /** The shared side. */
  DistributedLock readLock();

  /** The exclusive side. A writer's {@link Lease#downgrade()} lets readers in. */
  DistributedLock writeLock();

  /**
   * A pair of re-entrant views that belong to threads. The holder of the write lock may take the
   * read lock and then let go of the write lock; the other way round is refused with {@link
   * IllegalMonitorStateException}, for it would wait for itself. Letting go of the write lock first
   * is a {@link Lease#downgrade()}; where the store has none, or does not answer, the hold stays
   * exclusive until the read lock is let go of, too. {@code unlock()} then throws nothing.
   */
  ReadWriteLock asJavaReadWriteLock();
}
