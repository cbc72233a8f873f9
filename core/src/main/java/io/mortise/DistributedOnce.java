package io.mortise;

import io.mortise.annotation.Beta;
import io.mortise.function.CheckedFunction;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Work to be done once for a key among all processes: the first caller runs it, the others get its
 * result. Cheap, stateless, thread-safe: two objects for one key are the same.
 *
 * <p><b>Promise.</b> Once a run is stored as done, no caller runs the task under that key until the
 * result has expired. A run whose process dies, whose task throws, or whose lease is lost is not
 * stored, and the next caller runs the task again. So the task runs <em>at least once, and once if
 * nothing fails</em>: its writes before a crash stay written. Give {@link Lease#token()} to a
 * resource that can check it. Only work and fact in one database transaction ({@code
 * io.mortise.sql.TransactionOnce}) are exactly once.
 *
 * <p><b>How.</b> A run holds the lock {@code once/<key>}. It stores its begin, runs, and stores its
 * result. The store refuses either step if another run has begun since, so a process that was
 * paused for too long never replaces the result of its successor. Callers that find a run wait in
 * the queue of that lock.
 *
 * <p><b>Clocks.</b> A result expires by the store's clock. A clockless store uses the hosts' time
 * of day instead. A host whose clock is ahead of the clock of the host that ran the task forgets
 * the result earlier by the difference, and the task may run again. A host that is ahead by more
 * than the kept time and a day removes the result for all.
 */
@Beta
public interface DistributedOnce {
  /** The longest result, in bytes of UTF-8. */
  int MAX_RESULT_BYTES = 4_096;

  /** How long a result is kept unless {@link #keepFor} says otherwise. */
  Duration DEFAULT_KEEP = Duration.ofDays(7);

  /**
   * The stored outcome of a run.
   *
   * @param ranHere whether this call has run the task
   * @param value the task's result; empty if it returned null
   * @param doneAt when it was stored, by the store's clock; by the clock of the host that ran it if
   *     the store has none
   * @param token the fencing token of the run; 0 in a store without tokens, where no resource can
   *     refuse a late run
   */
  record OnceResult(boolean ranHere, Optional<String> value, Instant doneAt, long token) {}

  /** The key. */
  String key();

  /**
   * The same key, with another time for which the store keeps a result. The time counts from the
   * storing, and the value of the call that runs the task applies.
   *
   * @throws IllegalArgumentException if it is not within 1 ms and ten years
   */
  DistributedOnce keepFor(Duration keep);

  /**
   * Runs the task unless it is already done. Waits while another caller runs it. Blocks.
   *
   * @param task gets the lease of the run; its result, or null, is stored
   * @throws LeaseLostException if the lease of this run was lost before its result was stored; the
   *     task has run here, and another caller runs it again
   * @throws StoreUnavailableException if the store does not answer; if the task has run, it is not
   *     known whether its result was stored
   * @throws UnsupportedByStoreException if the store keeps no results; the task has not run
   * @throws IllegalArgumentException if the result is longer than {@link #MAX_RESULT_BYTES}; the
   *     task has run, and nothing was stored
   * @throws IllegalStateException if this thread runs a task of this key already
   * @throws InterruptedException if this thread is interrupted before the task has begun, and then
   *     the task has not run; the storing of a result is not interrupted
   * @throws LeaseInDoubtException if the store was restarted and has not confirmed the lease yet;
   *     the task has not run
   * @throws LockException if the store refuses
   * @throws X if the task throws it; nothing was stored
   */
  <X extends Exception> OnceResult run(CheckedFunction<Lease, @Nullable String, X> task)
      throws X, InterruptedException;

  /**
   * As {@link #run(CheckedFunction)}, waiting at most the given time for another caller's run. The
   * time does not end a task that has begun here.
   *
   * @throws LockTimeoutException if another caller ran it for longer; the task has not run here
   * @throws IllegalArgumentException if the time is negative, or the result too long
   * @throws InterruptedException if this thread is interrupted before the task has begun
   * @throws X if the task throws it; nothing was stored
   */
  <X extends Exception> OnceResult run(
      Duration wait, CheckedFunction<Lease, @Nullable String, X> task)
      throws X, InterruptedException;

  /**
   * As {@link #run(CheckedFunction)}, without blocking: the task begins on a thread of Mortise's
   * own, and is done when its stage completes. Completing or cancelling the returned future ends
   * the wait for another caller's run; a task that has begun continues, and its result is stored.
   *
   * @return fails as {@link #run(CheckedFunction)} does, and with the exceptions of the task or its
   *     stage
   */
  CompletableFuture<OnceResult> runAsync(
      Function<? super Lease, ? extends CompletionStage<@Nullable String>> task);

  /**
   * As {@link #runAsync(Function)}, waiting at most the given time for another caller's run; fails
   * with {@link LockTimeoutException} after that.
   *
   * @throws IllegalArgumentException if the time is negative
   */
  CompletableFuture<OnceResult> runAsync(
      Duration wait, Function<? super Lease, ? extends CompletionStage<@Nullable String>> task);

  /**
   * The stored result; empty if there is none or the run has not finished. Blocks for one round
   * trip, also if the thread is interrupted.
   *
   * @throws StoreUnavailableException if the store does not answer
   * @throws UnsupportedByStoreException if the store keeps no results
   */
  Optional<OnceResult> result();

  /**
   * Removes a stored result, so that the next caller runs the task again. Does not touch a run in
   * progress. Blocks, also if the thread is interrupted.
   *
   * @return whether there was one
   * @throws StoreUnavailableException if the store does not answer
   * @throws UnsupportedByStoreException if the store keeps no results
   */
  boolean forget();
}
