package io.mortise.curator;

import io.mortise.DistributedLock;
import io.mortise.JavaLock;
import io.mortise.Lease;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.recipes.locks.InterProcessLock;

/**
 * A lock of Mortise behind Curator's {@link InterProcessLock}, to replace an {@code
 * InterProcessMutex}, on any store. Re-entrant and owned by a thread, like the mutex; holds are
 * counted per object and thread, so share the object as you shared the mutex.
 *
 * <p>It differs in three ways: interruption ends a wait and leaves no node behind; a lost lock is
 * reported, see {@link #lease()}; and an outage does not end a wait without a time limit.
 *
 * <p>Thread-safe. Needs {@code curator-recipes} on the class path, which is no dependency of
 * Mortise.
 */
public final class MortiseInterProcessLock implements InterProcessLock {
  private final JavaLock lock;

  private MortiseInterProcessLock(JavaLock lock) {
    this.lock = lock;
  }

  /** Uses a lock. Two objects over one lock do not share holds: each waits for the other. */
  public static MortiseInterProcessLock over(DistributedLock lock) {
    return new MortiseInterProcessLock(lock.asJavaLock());
  }

  /**
   * Waits until this thread holds the lock. Blocks.
   *
   * @throws InterruptedException if this thread is interrupted before or while it waits
   * @throws io.mortise.LockException if the store refuses
   */
  @Override
  public void acquire() throws InterruptedException {
    lock.lockInterruptibly();
  }

  /**
   * Waits at most that long. Blocks. Zero or less tries once.
   *
   * @return whether this thread holds the lock
   * @throws InterruptedException if this thread is interrupted before or while it waits
   * @throws io.mortise.StoreUnavailableException if the time is over and the store did not answer
   */
  @Override
  public boolean acquire(long time, TimeUnit unit) throws InterruptedException {
    return lock.tryLock(Math.max(0, time), unit);
  }

  /**
   * Undoes one acquire of this thread; the last one releases the lock. Blocks for one round trip.
   *
   * @throws IllegalMonitorStateException if this thread does not hold it; as its subclass {@link
   *     io.mortise.JavaLock.LeaseLostMonitorException} if it did, but the lock was lost meanwhile
   */
  @Override
  public void release() {
    lock.unlock();
  }

  /** Whether a thread of this process holds the lock through this object. */
  @Override
  public boolean isAcquiredInThisProcess() {
    return lock.isLocked();
  }

  /** The lease of this thread's hold, for its fencing token and loss listeners. */
  public Optional<Lease> lease() {
    return lock.lease();
  }
}
