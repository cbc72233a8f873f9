package io.mortise.spring.integration;

import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockName;
import io.mortise.spi.time.DurationText;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;
import org.springframework.integration.support.locks.RenewableLockRegistry;
import org.springframework.integration.util.CheckedCallable;
import org.springframework.integration.util.CheckedRunnable;

/**
 * The methods that both registries share; they differ in the type of their locks. Not final: the
 * compiler then gives the public types methods of their own, which reflection may call.
 */
@SuppressWarnings("try") // A section is only closed.
abstract class KeyedLockRegistry<L extends Lock> implements RenewableLockRegistry<L> {
  private final KeyedLocks locks;

  KeyedLockRegistry(KeyedLocks locks) {
    this.locks = locks;
  }

  /** A lock of the registry's type. */
  abstract L lock(KeyedLocks locks, String name);

  /**
   * The lock of a key. Does not block. Two objects for one key are equal, and the same lock.
   *
   * @throws IllegalArgumentException if the key's type has no text of its own
   */
  @Override
  public L obtain(Object lockKey) {
    return lock(locks, locks.name(lockKey));
  }

  /**
   * Restarts the at-most time that this thread's hold has. A hold without one needs no renewal: it
   * is only checked. Blocks for one round trip.
   *
   * @throws IllegalStateException if this thread does not hold the lock through this registry
   * @throws LeaseLostException if the lease was lost
   * @throws io.mortise.StoreUnavailableException if the store does not answer; the old time, or the
   *     new one, is in force
   */
  @Override
  public void renewLock(Object lockKey) {
    locks.renew(locks.name(lockKey), null);
  }

  /**
   * Restarts the at-most time of this thread's hold with another one, also if it had none. Blocks
   * for one round trip.
   *
   * @throws IllegalArgumentException if the time is not within 1 ms and 10 years
   * @throws IllegalStateException if this thread does not hold the lock through this registry
   * @throws LeaseLostException if the lease was lost
   * @throws io.mortise.StoreUnavailableException if the store does not answer; the old time, or the
   *     new one, is in force
   */
  @Override
  public void renewLock(Object lockKey, Duration ttl) {
    locks.renew(locks.name(lockKey), Objects.requireNonNull(ttl, "ttl"));
  }

  /**
   * The lease of this thread's hold through this registry, for its fencing token and loss
   * listeners. Empty if this thread does not hold the lock. Does not block.
   */
  public Optional<Lease> lease(Object lockKey) {
    return locks.lease(locks.name(lockKey));
  }

  /**
   * Waits until this thread holds the lock, runs the task, unlocks. Blocks.
   *
   * @throws E if the task throws it; a loss of the lease is suppressed under it
   * @throws io.mortise.JavaLock.LeaseLostMonitorException if the lease was lost and the task threw
   *     nothing
   * @throws InterruptedException if this thread is interrupted before or while it waits
   */
  @Override
  public <E extends Throwable> void executeLocked(Object lockKey, CheckedRunnable<E> runnable)
      throws E, InterruptedException {
    L lock = obtain(lockKey);
    lock.lockInterruptibly();
    try (Section unused = lock::unlock) {
      runnable.run();
    }
  }

  /**
   * As {@link #executeLocked(Object, CheckedRunnable)}, with the task's result.
   *
   * @throws E if the task throws it; a loss of the lease is suppressed under it
   * @throws io.mortise.JavaLock.LeaseLostMonitorException if the lease was lost and the task threw
   *     nothing
   * @throws InterruptedException if this thread is interrupted before or while it waits
   */
  @Override
  public <T extends @Nullable Object, E extends Throwable> T executeLocked(
      Object lockKey, CheckedCallable<T, E> callable) throws E, InterruptedException {
    L lock = obtain(lockKey);
    lock.lockInterruptibly();
    try (Section unused = lock::unlock) {
      return callable.call();
    }
  }

  /**
   * As {@link #executeLocked(Object, CheckedRunnable)}, waiting at most that long.
   *
   * @throws E if the task throws it; a loss of the lease is suppressed under it
   * @throws TimeoutException if the lock could not be acquired in time; the task has not run
   * @throws io.mortise.StoreUnavailableException if the time is over and the store did not answer
   * @throws io.mortise.JavaLock.LeaseLostMonitorException if the lease was lost and the task threw
   *     nothing
   * @throws InterruptedException if this thread is interrupted before or while it waits
   */
  @Override
  public <E extends Throwable> void executeLocked(
      Object lockKey, Duration waitLockDuration, CheckedRunnable<E> runnable)
      throws E, InterruptedException, TimeoutException {
    L lock = lockWithin(lockKey, waitLockDuration);
    try (Section unused = lock::unlock) {
      runnable.run();
    }
  }

  /**
   * As {@link #executeLocked(Object, Duration, CheckedRunnable)}, with the task's result.
   *
   * @throws E if the task throws it; a loss of the lease is suppressed under it
   * @throws TimeoutException if the lock could not be acquired in time; the task has not run
   * @throws io.mortise.StoreUnavailableException if the time is over and the store did not answer
   * @throws io.mortise.JavaLock.LeaseLostMonitorException if the lease was lost and the task threw
   *     nothing
   * @throws InterruptedException if this thread is interrupted before or while it waits
   */
  @Override
  public <T extends @Nullable Object, E extends Throwable> T executeLocked(
      Object lockKey, Duration waitLockDuration, CheckedCallable<T, E> callable)
      throws E, InterruptedException, TimeoutException {
    L lock = lockWithin(lockKey, waitLockDuration);
    try (Section unused = lock::unlock) {
      return callable.call();
    }
  }

  private L lockWithin(Object lockKey, Duration wait)
      throws InterruptedException, TimeoutException {
    L lock = obtain(lockKey);
    if (!lock.tryLock(KeyedLock.saturatedNanos(wait), TimeUnit.NANOSECONDS)) {
      throw new TimeoutException(
          "Could not acquire lock '"
              + LockName.of(locks.name(lockKey))
              + "' within "
              + DurationText.format(wait)
              + ". Raise the wait time or shorten the critical section.");
    }
    return lock;
  }

  /** Unlocks; a failure of that is suppressed under the task's exception. */
  private interface Section extends AutoCloseable {
    @Override
    void close();
  }

  @Override
  public String toString() {
    return getClass().getSimpleName() + locks;
  }
}
