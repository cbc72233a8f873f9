package io.mortise;

import io.mortise.annotation.Beta;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.function.BooleanSupplier;

/**
 * The locks that another library keeps for the same names, while processes that use only that
 * library still run: {@link LockClientBuilder#alsoHolding}. Any {@link Lock} will do, also one that
 * belongs to the thread that took it.
 *
 * <p>The methods are called for each acquire, on any thread, perhaps for another caller; they must
 * not block. They may return one lock again and again or a new one each time. One thread of the
 * client calls {@code tryLock()}, {@code tryLock(long, TimeUnit)} and {@code unlock()} of a lock;
 * the timed form must end when that thread is interrupted, and is then called once more, so that
 * the thread leaves a queue. An exception, or null, fails the acquire.
 */
@Beta
@FunctionalInterface
public interface OuterLocks {
  /** The lock that exclusive holders of this name take. */
  Lock exclusive(String name);

  /**
   * The lock that readers of this name take. The default has none, so read locks are refused.
   *
   * @return empty if the other library has none
   */
  default Optional<Lock> shared(String name) {
    return Optional.empty();
  }

  /**
   * The lock that holders of permits take. The default has none, so permits are refused.
   *
   * @param count how many permits it takes
   * @param permits how many there are
   * @return empty if the other library has none
   */
  default Optional<Lock> permits(String name, int count, int permits) {
    return Optional.empty();
  }

  /**
   * The locks of another client, for a move from one store to another.
   *
   * @param old not closed by the client that holds its locks
   */
  static OuterLocks of(LockClient old) {
    Objects.requireNonNull(old, "old");
    return new OuterLocks() {
      @Override
      public Lock exclusive(String name) {
        return old.lock(name).asJavaLock();
      }

      @Override
      public Optional<Lock> shared(String name) {
        return Optional.of(old.readWriteLock(name).readLock().asJavaLock());
      }

      @Override
      public Optional<Lock> permits(String name, int count, int permits) {
        return Optional.of(old.semaphore(name, permits).permits(count).asJavaLock());
      }

      @Override
      public String toString() {
        return "OuterLocks[" + old + "]";
      }
    };
  }

  /**
   * A lock whose loss can be seen: the lease inside is lost as soon as the check finds that. A
   * {@link JavaLock} needs none.
   *
   * @param isHeld whether the calling thread still holds the lock, for example {@code
   *     lock::isHeldByCurrentThread}; called by the thread that took it, each third of the client's
   *     TTL; may block for a round trip. An exception proves nothing, and is ignored
   */
  static Lock checked(Lock lock, BooleanSupplier isHeld) {
    Objects.requireNonNull(lock, "lock");
    Objects.requireNonNull(isHeld, "isHeld");
    return new Checked() {
      @Override
      public boolean isHeld() {
        return isHeld.getAsBoolean();
      }

      @Override
      public boolean tryLock() {
        return lock.tryLock();
      }

      @Override
      public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
        return lock.tryLock(time, unit);
      }

      @Override
      public void unlock() {
        lock.unlock();
      }

      @Override
      public void lock() {
        lock.lock();
      }

      @Override
      public void lockInterruptibly() throws InterruptedException {
        lock.lockInterruptibly();
      }

      @Override
      public Condition newCondition() {
        return lock.newCondition();
      }
    };
  }

  /** A lock whose loss can be seen, for adapters: a client calls no method that has a default. */
  interface Checked extends Lock {
    /** As the check of {@link OuterLocks#checked}. */
    boolean isHeld();

    /**
     * Releases the lock of a client that is closed within an at-least time. The default releases it
     * at once.
     *
     * @param time how long it should stay shut
     */
    default void unlockAfter(Duration time) {
      unlock();
    }

    /** Not supported. */
    @Override
    default void lock() {
      throw new UnsupportedOperationException("A client waits by tryLock.");
    }

    /** Not supported. */
    @Override
    default void lockInterruptibly() throws InterruptedException {
      throw new UnsupportedOperationException("A client waits by tryLock.");
    }

    /** Not supported. */
    @Override
    default Condition newCondition() {
      throw new UnsupportedOperationException("A distributed lock has no conditions.");
    }
  }
}
