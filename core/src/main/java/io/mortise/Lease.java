package io.mortise;

import io.mortise.function.CheckedRunnable;
import io.mortise.function.CheckedSupplier;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The right to a lock, for as long as it is renewed: a value, usable and closable from any thread.
 *
 * <p>A process can be stopped at any instant: by its garbage collector, its host, its debugger. If
 * it is stopped for longer than its session's TTL, the store gives the lock to another, and the
 * process wakes up believing that it still holds. No lock service can prevent this. Mortise reports
 * it: {@link #isValid()} turns false on this process's own clock before the store can grant to
 * another, {@link #onLost} is called, {@link #ensureValid()} throws. Because the process may be
 * stopped right after it asked, every lease has a {@link #token()} that is greater than those of
 * all earlier holders. Give it to the resource that the lock guards, and let the resource refuse
 * tokens older than the newest it has seen.
 *
 * <p>Renewal continues by itself until {@link #close()}. All methods are thread-safe; none blocks
 * unless it says so.
 */
public interface Lease extends AutoCloseable {
  /** The lock's name. */
  String name();

  /**
   * The fencing token: strictly rises over the exclusive holds of this name, in every process, and
   * stays the same during the hold. Tokens of shared holds and permits identify, but holders
   * overlap: do not fence with them.
   *
   * @throws LeaseLostException if the lease is lost, so that nobody takes the token of a lost hold
   *     for a current one
   * @throws LeaseInDoubtException if the store was restarted and has not confirmed the hold yet
   * @throws UnsupportedByStoreException if the store has no fencing tokens
   */
  long token();

  /**
   * {@link #token()} with the lock's name and the holder, for a guard. Only exclusive holds have
   * one: tokens of shared holds and permits overlap, so a guard that took them would refuse
   * rightful holders.
   *
   * @throws LeaseLostException if the lease is lost
   * @throws LeaseInDoubtException as {@link #token()}
   * @throws IllegalStateException if it was released; or if the hold is shared, also by {@link
   *     #downgrade}, or one of permits
   * @throws UnsupportedByStoreException if the store has no fencing tokens
   */
  FencingToken fencingToken();

  /** The state of the lease, as far as this process knows. */
  State state();

  /**
   * Whether the holder may rely on the hold: one clock reading, no I/O. False also while the lease
   * is in doubt ({@link State#SUSPECT}), after which it may be true again. The answer can become
   * false right after the check; only a resource that compares {@link #token()} is safe from that.
   */
  boolean isValid();

  /**
   * How long the lease stays valid if it is not renewed again; zero if it is not valid, also while
   * it is in doubt.
   */
  Duration remaining();

  /**
   * Returns if {@link #isValid()}.
   *
   * @throws LeaseLostException if the lease is lost
   * @throws LeaseInDoubtException if the store was restarted and has not confirmed the hold yet
   * @throws IllegalStateException if it was released
   */
  void ensureValid();

  /**
   * Calls the listener once if the lease is lost, on a thread of Mortise's own that may block; at
   * once if it is lost already, never after a release.
   */
  void onLost(Consumer<? super LeaseLostException> listener);

  /**
   * Runs the task on this thread and interrupts it there if the lease is lost meanwhile. Blocks for
   * as long as the task.
   *
   * @throws LeaseLostException if the lease is lost before or during the task; the task's exception
   *     is suppressed
   * @throws LeaseInDoubtException as {@link #ensureValid()}; the task has not run
   * @throws X if the task throws it
   */
  <T extends @Nullable Object, X extends Exception> T run(CheckedSupplier<T, X> task) throws X;

  /**
   * As {@link #run(CheckedSupplier)}, for a task without a result.
   *
   * @throws LeaseLostException if the lease is lost before or during the task; the task's exception
   *     is suppressed
   * @throws LeaseInDoubtException as {@link #ensureValid()}; the task has not run
   * @throws X if the task throws it
   */
  default <X extends Exception> void run(CheckedRunnable<X> task) throws X {
    Objects.requireNonNull(task, "task");
    boolean unused =
        this.<Boolean, X>run(
            () -> {
              task.run();
              return true;
            });
  }

  /**
   * Restarts the at-most time from now. Blocks for one round trip, for the store's timeout at most.
   *
   * @throws IllegalArgumentException if it is not within 1 ms and 10 years
   * @throws LeaseLostException if the lease is lost
   * @throws LeaseInDoubtException as {@link #ensureValid()}
   * @throws IllegalStateException if it was released
   * @throws StoreUnavailableException if the store does not answer; the old time, or the new one,
   *     is in force
   */
  void extend(Duration atMost);

  /**
   * Restarts the at-least time from now, longer or shorter than before: the lock stays shut until
   * then, also when it is released or this process dies. Blocks for one round trip, for the store's
   * timeout at most.
   *
   * @throws IllegalArgumentException if it is not within 1 ms and 10 years
   * @throws LeaseLostException if the lease is lost
   * @throws LeaseInDoubtException as {@link #ensureValid()}
   * @throws IllegalStateException if it was released
   * @throws UnsupportedByStoreException if the store keeps no at-least times
   * @throws StoreUnavailableException if the store does not answer; the old time, or the new one,
   *     is in force
   */
  void keepShut(Duration atLeast);

  /**
   * Turns an exclusive hold of a read/write lock into a shared one, so that waiting readers enter
   * now. The token stays. Blocks for one round trip, for the store's timeout at most. Does nothing
   * if the hold is shared already.
   *
   * @throws LeaseLostException if the lease is lost
   * @throws LeaseInDoubtException as {@link #ensureValid()}
   * @throws IllegalStateException if it was released, or if it is the hold of a semaphore
   * @throws UnsupportedByStoreException if the store cannot narrow a hold
   * @throws StoreUnavailableException if the store does not answer; it is unknown whether the hold
   *     is shared now
   */
  void downgrade();

  /**
   * Releases without waiting: the release is in flight, in order before any later acquire of this
   * process. {@link LockClient#close()} waits for it.
   *
   * @return completes when the store has answered; exceptionally with {@link LeaseLostException} if
   *     the lease was lost
   */
  CompletableFuture<Void> releaseAsync();

  /**
   * Releases the lock, once: later calls do nothing. Never touches the lock of another. Waits for
   * the store's answer unless the options say otherwise; if the store does not answer, the release
   * is sent again until the session ends.
   *
   * @throws LeaseLostException if the lease was lost before, once; suppressed by try-with-resources
   *     under the body's own
   */
  @Override
  void close();

  /** The states of a lease. */
  enum State {
    /** Held, and renewed in time. */
    HELD,
    /**
     * Still valid, but its renewal is overdue and less than a third of the TTL is left. Or not
     * valid for the moment: the store was restarted or failed over, so it may have forgotten the
     * hold, and has to confirm it.
     */
    SUSPECT,
    /**
     * No longer valid, although this holder did not release it. Closing it does not change that.
     */
    LOST,
    /**
     * Released by its holder. Final, unless the store's answer to the release shows that the lease
     * had been lost before: then it is {@link #LOST}.
     */
    RELEASED
  }
}
