package io.mortise;

import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/**
 * A distributed lock as {@link java.util.concurrent.locks.Lock}: re-entrant, owned by a thread. The
 * hold count is local; the store sees one acquire and one release.
 *
 * <p>{@code lock()} survives interruption (and restores the flag) and waits through an outage;
 * {@code tryLock} throws {@link StoreUnavailableException} if the store does not answer. Re-entry
 * throws {@link LeaseLostException} if the lease was lost, and {@link LeaseInDoubtException} while
 * it is in doubt. {@code unlock()} throws {@link IllegalMonitorStateException} if this thread does
 * not hold the lock, and its subclass {@link LeaseLostMonitorException} if it did but the lease was
 * lost. {@code newCondition()} throws {@link UnsupportedOperationException}. Thread-safe.
 */
public interface JavaLock extends Lock {
  /** The lease of this thread's hold; empty if it holds none. */
  Optional<Lease> lease();

  /** The hold count of this thread; 0 if it does not hold the lock. */
  int getHoldCount();

  /** Whether any thread holds the lock through this view. */
  boolean isLocked();

  /** Whether this thread holds the lock through this view. */
  default boolean isHeldByCurrentThread() {
    return getHoldCount() > 0;
  }

  /** Not supported. */
  @Override
  default Condition newCondition() {
    throw new UnsupportedOperationException("A distributed lock has no conditions.");
  }

  @Override
  boolean tryLock(long time, TimeUnit unit) throws InterruptedException;

  /** Thrown by {@code unlock()} when the lease was lost before: the hold ends all the same. */
  final class LeaseLostMonitorException extends IllegalMonitorStateException {
    private static final long serialVersionUID = 1L;

    /** Creates it with the loss as its cause. */
    public LeaseLostMonitorException(LeaseLostException loss) {
      super(loss.getMessage());
      initCause(loss);
    }
  }
}
