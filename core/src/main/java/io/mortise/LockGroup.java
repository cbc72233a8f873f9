package io.mortise;

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
 * Several locks, all or none. Thread-safe.
 *
 * <p>All are tried at once, regardless of the caller's order. If one is busy, those after it in the
 * order of their names' bytes are given back, and the group waits for the busy one; then the rest
 * is tried at once again. A waiting group holds only names before the one that it waits for, so
 * groups cannot wait for each other in a cycle.
 */
public interface LockGroup {
  /**
   * Waits until all locks are held. Blocks.
   *
   * @throws InterruptedException if this thread is interrupted; none is held then
   * @throws LockException as {@link DistributedLock#acquire()}; none is held then
   */
  GroupLease acquire() throws InterruptedException;

  /**
   * Waits at most the given time for all together. Blocks.
   *
   * @throws LockTimeoutException if they were not granted in time; none is held then
   * @throws InterruptedException if this thread is interrupted; none is held then
   * @throws LockException as {@link DistributedLock#acquireWithin}; none is held then
   */
  GroupLease acquireWithin(Duration wait) throws InterruptedException;

  /**
   * Tries once. Requests all of them at once and blocks until the store has answered for all, for
   * no longer than the store's timeout.
   *
   * @return empty if one of them was taken; none is held then. It may have been taken by another
   *     group that tried at the same moment and was not granted all either
   * @throws LockException as {@link DistributedLock#tryAcquire()}; none is held then
   */
  Optional<GroupLease> tryAcquire();

  /**
   * As {@link #acquireWithin}, with a timeout as an outcome instead of an exception.
   *
   * @return empty if they were not granted in time; none is held then
   * @throws IllegalArgumentException if the time is negative
   * @throws InterruptedException if this thread is interrupted; none is held then
   * @throws LockException as {@link DistributedLock#tryAcquire(Duration)}; none is held then
   */
  Optional<GroupLease> tryAcquire(Duration wait) throws InterruptedException;

  /**
   * Acquires all without blocking any thread. Cancelling the future gives the attempt up. A future
   * that is dropped leaks the locks for as long as the process lives: prefer {@link
   * #withLocksAsync}.
   *
   * @return completes with the leases, or exceptionally with the exceptions of {@link #acquire()};
   *     none is held then
   */
  CompletableFuture<GroupLease> acquireAsync();

  /**
   * As {@link #acquireAsync()}, for at most the given time for all together.
   *
   * @return completes with the leases, or exceptionally with the exceptions of {@link
   *     #acquireWithin}; none is held then
   * @throws IllegalArgumentException if the time is negative
   */
  CompletableFuture<GroupLease> acquireAsync(Duration wait);

  /**
   * Acquires all as {@link #acquire()}, runs the task, releases. Blocks.
   *
   * @throws LeaseLostException if one of the leases was lost meanwhile; suppressed if the task
   *     threw
   * @throws InterruptedException if this thread is interrupted before or while it waits
   * @throws X if the task throws it
   */
  default <X extends Exception> void withLocks(CheckedRunnable<X> task)
      throws X, InterruptedException {
    Objects.requireNonNull(task, "task");
    run(acquire(), task);
  }

  /**
   * As {@link #withLocks(CheckedRunnable)}, with the task's result.
   *
   * @throws LeaseLostException if one of the leases was lost meanwhile; suppressed if the task
   *     threw
   * @throws InterruptedException if this thread is interrupted before or while it waits
   * @throws X if the task throws it
   */
  default <T extends @Nullable Object, X extends Exception> T withLocks(CheckedSupplier<T, X> task)
      throws X, InterruptedException {
    Objects.requireNonNull(task, "task");
    return call(acquire(), task);
  }

  /**
   * Acquires all as {@link #acquireWithin}, runs the task, releases. Blocks.
   *
   * @throws LockTimeoutException if they were not granted in time; the task has not run
   * @throws LeaseLostException if one of the leases was lost meanwhile; suppressed if the task
   *     threw
   * @throws InterruptedException if this thread is interrupted before or while it waits
   * @throws X if the task throws it
   */
  default <X extends Exception> void withLocks(Duration wait, CheckedRunnable<X> task)
      throws X, InterruptedException {
    Objects.requireNonNull(task, "task");
    run(acquireWithin(wait), task);
  }

  /**
   * As {@link #withLocks(Duration, CheckedRunnable)}, with the task's result.
   *
   * @throws LockTimeoutException if they were not granted in time; the task has not run
   * @throws LeaseLostException if one of the leases was lost meanwhile; suppressed if the task
   *     threw
   * @throws InterruptedException if this thread is interrupted before or while it waits
   * @throws X if the task throws it
   */
  default <T extends @Nullable Object, X extends Exception> T withLocks(
      Duration wait, CheckedSupplier<T, X> task) throws X, InterruptedException {
    Objects.requireNonNull(task, "task");
    return call(acquireWithin(wait), task);
  }

  /**
   * Runs the task if all locks are free, as {@link #tryAcquire()} finds them. Blocks.
   *
   * @return whether the task has run; false if one of the locks was taken
   * @throws LeaseLostException if one of the leases was lost meanwhile; suppressed if the task
   *     threw
   * @throws X if the task throws it
   */
  default <X extends Exception> boolean tryWithLocks(CheckedRunnable<X> task) throws X {
    Objects.requireNonNull(task, "task");
    Optional<GroupLease> granted = tryAcquire();
    if (granted.isEmpty()) {
      return false;
    }
    run(granted.get(), task);
    return true;
  }

  /**
   * Acquires all, runs the stage, releases when it completes, however it does. Does not block.
   *
   * <p>Cancelling the future ends the wait for the locks, and the task does not begin. A stage that
   * has begun continues, and keeps the locks until it completes.
   *
   * @return completes with the stage's result when the store has answered the releases; or
   *     exceptionally, with the failure of the acquire, the task or the stage, or with a {@link
   *     LeaseLostException} if only a lease was lost
   */
  <T> CompletableFuture<T> withLocksAsync(Function<GroupLease, ? extends CompletionStage<T>> task);

  private static <X extends Exception> void run(GroupLease lease, CheckedRunnable<X> task)
      throws X {
    try (lease) {
      lease.ensureValid();
      task.run();
    }
  }

  private static <T extends @Nullable Object, X extends Exception> T call(
      GroupLease lease, CheckedSupplier<T, X> task) throws X {
    try (lease) {
      lease.ensureValid();
      return task.get();
    }
  }
}
