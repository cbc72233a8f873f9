package io.mortise;

import io.mortise.function.CheckedConsumer;
import io.mortise.function.CheckedFunction;
import io.mortise.function.CheckedRunnable;
import io.mortise.function.CheckedSupplier;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A named lock, one side of a read/write lock, or permits of a semaphore. Cheap, stateless,
 * thread-safe: two objects for one name are the same lock.
 *
 * <p>The durations here say how long to <em>wait</em>. A hold has no time limit: it lasts until it
 * is closed or its process dies. {@link LockOptions#withAtMost} sets another limit.
 *
 * <p>Waiting ends in a grant, a timeout, an interrupt or an exception. Without a grant it leaves
 * nothing behind. A wait continues through an outage of the store until its time is over; {@link
 * #tryAcquire()} fails at once.
 *
 * <p>Not re-entrant: a lease is a value and belongs to no thread, so a thread that holds a lease
 * and acquires the same lock again would wait for itself. Blocking forms without a time limit
 * detect that if either of the two is exclusive, and throw {@link IllegalStateException}. Use
 * {@link #asJavaLock()} for a lock that belongs to a thread.
 */
public interface DistributedLock {
  /** The lock's name. */
  String name();

  /**
   * Waits until the lock is granted. Blocks.
   *
   * @throws InterruptedException if this thread is interrupted before or while it waits
   * @throws IllegalStateException if this thread already holds it, or the client is closed
   * @throws LockException if the store refuses
   */
  Lease acquire() throws InterruptedException;

  /**
   * Waits for at most the given time. Blocks. Zero tries once, as {@link #tryAcquire()} does.
   *
   * @throws LockTimeoutException if the lock was not granted in time
   * @throws StoreUnavailableException if the time is over and the store has not answered for a
   *     second or more: not known to be contention
   * @throws IllegalArgumentException if the time is negative
   * @throws InterruptedException if this thread is interrupted before or while it waits
   * @throws LockException if the store refuses
   */
  Lease acquireWithin(Duration wait) throws InterruptedException;

  /**
   * Tries once, without waiting for another holder. Blocks for one round trip to the store; if the
   * holder is sticky, until that holder has answered, 0.7 s at most. Never blocks for longer than
   * the store's timeout; opening a session and judging a dead holder are part of that time. One
   * exception: if a server sends byte by byte to a {@code DataSource} of MariaDB's driver, a try
   * may last a few times as long.
   *
   * @return empty if somebody else holds or waits for it
   * @throws StoreUnavailableException if the store does not answer, or does not decide within its
   *     timeout. The attempt is being ended: a late grant is given back
   * @throws LockException if the store refuses
   */
  Optional<Lease> tryAcquire();

  /**
   * As {@link #acquireWithin}, with a timeout as an outcome instead of an exception.
   *
   * @return empty if the lock was not granted in time
   * @throws StoreUnavailableException if the time is over and the store has not answered for a
   *     second or more
   * @throws IllegalArgumentException if the time is negative
   * @throws InterruptedException if this thread is interrupted before or while it waits
   * @throws LockException if the store refuses
   */
  Optional<Lease> tryAcquire(Duration wait) throws InterruptedException;

  /**
   * Acquires without blocking any thread. Cancelling the future gives the attempt up. A future that
   * is dropped leaks the lock for as long as the process lives: prefer {@link #withLockAsync}.
   *
   * @return completes with the lease, or exceptionally with the exceptions of {@link #acquire()}
   */
  CompletableFuture<Lease> acquireAsync();

  /**
   * As {@link #acquireAsync()}, for at most the given time. Zero tries once, for the store's
   * timeout at most.
   *
   * @return completes with the lease, or exceptionally with the exceptions of {@link
   *     #acquireWithin}
   * @throws IllegalArgumentException if the time is negative
   */
  CompletableFuture<Lease> acquireAsync(Duration wait);

  /**
   * Acquires as {@link #acquire()}, runs the task, releases. Blocks.
   *
   * @throws LeaseLostException if the lease was lost meanwhile; suppressed if the task threw
   * @throws InterruptedException if this thread is interrupted before or while it waits for the
   *     lock
   * @throws X if the task throws it
   */
  default <X extends Exception> void withLock(CheckedRunnable<X> task)
      throws X, InterruptedException {
    Objects.requireNonNull(task, "task");
    withLease(lease -> task.run());
  }

  /**
   * As {@link #withLock(CheckedRunnable)}, with the task's result.
   *
   * @throws LeaseLostException if the lease was lost meanwhile; suppressed if the task threw
   * @throws InterruptedException if this thread is interrupted before or while it waits for the
   *     lock
   * @throws X if the task throws it
   */
  default <T extends @Nullable Object, X extends Exception> T withLock(CheckedSupplier<T, X> task)
      throws X, InterruptedException {
    Objects.requireNonNull(task, "task");
    return callWithLease(lease -> task.get());
  }

  /**
   * Acquires as {@link #acquireWithin}, runs the task, releases. Blocks.
   *
   * @throws LockTimeoutException if the lock was not granted in time; the task has not run
   * @throws LeaseLostException if the lease was lost meanwhile; suppressed if the task threw
   * @throws InterruptedException if this thread is interrupted before or while it waits for the
   *     lock
   * @throws X if the task throws it
   */
  default <X extends Exception> void withLock(Duration wait, CheckedRunnable<X> task)
      throws X, InterruptedException {
    Objects.requireNonNull(task, "task");
    run(acquireWithin(wait), lease -> task.run());
  }

  /**
   * As {@link #withLock(Duration, CheckedRunnable)}, with the task's result.
   *
   * @throws LockTimeoutException if the lock was not granted in time; the task has not run
   * @throws LeaseLostException if the lease was lost meanwhile; suppressed if the task threw
   * @throws InterruptedException if this thread is interrupted before or while it waits for the
   *     lock
   * @throws X if the task throws it
   */
  default <T extends @Nullable Object, X extends Exception> T withLock(
      Duration wait, CheckedSupplier<T, X> task) throws X, InterruptedException {
    Objects.requireNonNull(task, "task");
    return call(acquireWithin(wait), lease -> task.get());
  }

  /**
   * Runs the task if the lock is free, as {@link #tryAcquire()} finds it. Blocks.
   *
   * @return whether the task has run; false if somebody else holds or waits for the lock
   * @throws LeaseLostException if the lease was lost meanwhile; suppressed if the task threw
   * @throws X if the task throws it
   */
  default <X extends Exception> boolean tryWithLock(CheckedRunnable<X> task) throws X {
    Objects.requireNonNull(task, "task");
    return tryWithLease(lease -> task.run());
  }

  /**
   * Acquires as {@link #acquire()}, gives the lease to the task, releases. Blocks.
   *
   * @throws LeaseLostException if the lease was lost meanwhile; suppressed if the task threw
   * @throws InterruptedException if this thread is interrupted before or while it waits for the
   *     lock
   * @throws X if the task throws it
   */
  default <X extends Exception> void withLease(CheckedConsumer<Lease, X> task)
      throws X, InterruptedException {
    Objects.requireNonNull(task, "task");
    run(acquire(), task);
  }

  /**
   * As {@link #withLease(CheckedConsumer)}, with the task's result. The name differs because the
   * compiler cannot tell whether {@code lease -> use(lease)} has a result.
   *
   * @throws LeaseLostException if the lease was lost meanwhile; suppressed if the task threw
   * @throws InterruptedException if this thread is interrupted before or while it waits for the
   *     lock
   * @throws X if the task throws it
   */
  default <T extends @Nullable Object, X extends Exception> T callWithLease(
      CheckedFunction<Lease, T, X> task) throws X, InterruptedException {
    Objects.requireNonNull(task, "task");
    return call(acquire(), task);
  }

  /**
   * As {@link #withLease(CheckedConsumer)}, acquiring as {@link #acquireWithin}.
   *
   * @throws LockTimeoutException if the lock was not granted in time; the task has not run
   * @throws LeaseLostException if the lease was lost meanwhile; suppressed if the task threw
   * @throws InterruptedException if this thread is interrupted before or while it waits for the
   *     lock
   * @throws X if the task throws it
   */
  default <X extends Exception> void withLease(Duration wait, CheckedConsumer<Lease, X> task)
      throws X, InterruptedException {
    Objects.requireNonNull(task, "task");
    run(acquireWithin(wait), task);
  }

  /**
   * As {@link #callWithLease(CheckedFunction)}, acquiring as {@link #acquireWithin}.
   *
   * @throws LockTimeoutException if the lock was not granted in time; the task has not run
   * @throws LeaseLostException if the lease was lost meanwhile; suppressed if the task threw
   * @throws InterruptedException if this thread is interrupted before or while it waits for the
   *     lock
   * @throws X if the task throws it
   */
  default <T extends @Nullable Object, X extends Exception> T callWithLease(
      Duration wait, CheckedFunction<Lease, T, X> task) throws X, InterruptedException {
    Objects.requireNonNull(task, "task");
    return call(acquireWithin(wait), task);
  }

  /**
   * As {@link #tryWithLock}, with the lease given to the task.
   *
   * @return whether the task has run; false if somebody else holds or waits for the lock
   * @throws LeaseLostException if the lease was lost meanwhile; suppressed if the task threw
   * @throws X if the task throws it
   */
  default <X extends Exception> boolean tryWithLease(CheckedConsumer<Lease, X> task) throws X {
    Objects.requireNonNull(task, "task");
    Optional<Lease> granted = tryAcquire();
    if (granted.isEmpty()) {
      return false;
    }
    run(granted.get(), task);
    return true;
  }

  private static <T extends @Nullable Object, X extends Exception> T call(
      Lease lease, CheckedFunction<Lease, T, X> task) throws X {
    try (lease) {
      lease.ensureValid();
      return task.apply(lease);
    }
  }

  private static <X extends Exception> void run(Lease lease, CheckedConsumer<Lease, X> task)
      throws X {
    try (lease) {
      lease.ensureValid();
      task.accept(lease);
    }
  }

  /**
   * Acquires, runs the stage, releases when it completes, however it does. Does not block.
   *
   * <p>Cancelling the future ends the wait for the lock, and the task does not begin. A stage that
   * has begun continues, and keeps the lock until it completes.
   *
   * @return completes with the stage's result when the store has answered the release; or
   *     exceptionally, with the failure of the acquire, the task or the stage, or with a {@link
   *     LeaseLostException} if only the lease was lost
   */
  <T> CompletableFuture<T> withLockAsync(Function<Lease, ? extends CompletionStage<T>> task);

  /**
   * A re-entrant view that belongs to threads: {@code unlock()} is reserved to the thread that
   * locked. Re-entry costs no I/O. Each call returns a separate view; holds are counted per view
   * and thread. See {@link JavaLock}.
   */
  JavaLock asJavaLock();

  /** The same lock with other options. */
  DistributedLock with(LockOptions options);
}
