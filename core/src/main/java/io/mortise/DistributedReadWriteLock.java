package io.mortise;

import java.util.concurrent.locks.ReadWriteLock;

/**
 * Many readers or one writer. First come, first served across processes: a reader that arrives
 * after a waiting writer waits behind it. The write side is the same lock as {@link
 * LockClient#lock} of that name. Thread-safe.
 */
public interface DistributedReadWriteLock {
  /** The shared side. */
  DistributedLock readLock();

  /** The exclusive side. A writer's {@link Lease#downgrade()} lets readers in. */
  DistributedLock writeLock();

  /**
   * A pair of re-entrant views that belong to threads. The holder of the write lock may take the
   * read lock and then unlock the write lock. A holder of only the read lock would wait for itself,
   * so its attempt to take the write lock is refused with {@link IllegalMonitorStateException}.
   * Unlocking the write lock first is a {@link Lease#downgrade()}; if the store has none, or does
   * not answer, the hold stays exclusive until the read lock is unlocked too. {@code unlock()} then
   * throws nothing.
   */
  ReadWriteLock asJavaReadWriteLock();
}
