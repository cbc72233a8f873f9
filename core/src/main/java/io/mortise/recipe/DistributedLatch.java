package io.mortise.recipe;

import io.mortise.annotation.Beta;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * A latch across processes: it opens when a number of parties have counted down, and stays open
 * until it expires. Cheap, stateless, thread-safe: two objects for one name are the same.
 *
 * <p><b>What is promised.</b> A party counts once, however often it counts down and whatever
 * answers are lost. An open latch never closes before it expires or is deleted. A party that dies
 * without counting down does not count: give {@link #await(Duration)} a time, or use a {@link
 * DistributedBarrier}, which notices.
 *
 * <p><b>How.</b> The parties that have counted down stand in a small document of the store, by a
 * digest of their names. A waiter reads it after an eighth of the time that it has waited so far,
 * at least 10 ms and at most 500 ms, with jitter. So it sees the opening up to half a second late.
 *
 * <p>Every method throws {@code io.mortise.UnsupportedByStoreException} if the store keeps no such
 * documents, {@code io.mortise.LockException} if the latch was begun with another number of
 * parties, {@code io.mortise.StoreUnavailableException} if the store does not answer, and {@link
 * IllegalStateException} after the client was closed; a future fails with them. A call that does
 * not wait for others fails so after the store's timeout, or after two of them if another
 * count-down of this process is in flight. An interrupt of a thread that counts down, or deletes,
 * leaves unknown whether that happened.
 */
@Beta
public interface DistributedLatch {
  /** The most parties. */
  int MAX_PARTIES = 1_000;

  /** How long a latch is kept unless {@link #keepFor} says otherwise. */
  Duration DEFAULT_KEEP = Duration.ofDays(7);

  /** The name. */
  String name();

  /** How many parties have to count down. */
  int parties();

  /**
   * The same, with another time for which the store keeps the latch, counted from its latest
   * count-down by the store's clock; in a clockless store by the hosts' time of day, so a host
   * whose clock is ahead forgets the latch earlier by the difference. After it the latch is as if
   * it had never been used.
   *
   * @throws IllegalArgumentException if it is not within 10 s and ten years
   */
  DistributedLatch keepFor(Duration keep);

  /**
   * Counts a party down, once: repetitions do nothing, also those of another process. Blocks.
   *
   * @param party 1 to 512 characters that only this party uses
   * @return how many parties are missing now; 0 if the latch is open
   * @throws IllegalArgumentException if the party's name is empty or too long
   * @throws InterruptedException if the thread is interrupted; the party may count all the same
   */
  int countDown(String party) throws InterruptedException;

  /**
   * Counts down as a party of its own: each call counts. After a failure it is unknown whether this
   * one does; where that matters, name the party. Blocks.
   *
   * @return how many parties are missing now; 0 if the latch is open
   * @throws InterruptedException if the thread is interrupted; this call may count all the same
   */
  int countDown() throws InterruptedException;

  /**
   * As {@link #countDown(String)}, without blocking. Completing or cancelling the future leaves
   * unknown whether the party counts.
   */
  CompletableFuture<Integer> countDownAsync(String party);

  /**
   * As {@link #countDown()}, without blocking: each call counts. Completing or cancelling the
   * future leaves unknown whether this one does.
   */
  CompletableFuture<Integer> countDownAsync();

  /**
   * How many parties are missing; all of them if nobody has counted down. Blocks for a round trip.
   *
   * @throws InterruptedException if the thread is interrupted
   */
  int remaining() throws InterruptedException;

  /**
   * Waits until the latch is open. A latch that nobody has used yet is not open. Blocks. The wait
   * goes on while the store does not answer.
   *
   * @throws InterruptedException if the thread is interrupted before or while it waits
   */
  void await() throws InterruptedException;

  /**
   * As {@link #await()}, for so long at most; with no time it looks once.
   *
   * @return whether the latch is open
   * @throws IllegalArgumentException if the time is negative
   * @throws InterruptedException if the thread is interrupted before or while it waits
   */
  boolean await(Duration wait) throws InterruptedException;

  /**
   * Completes when the latch is open, on a thread of Mortise's own. Completing or cancelling the
   * future ends the wait; nothing of the wait stands in the store.
   *
   * <p>It fails with {@code io.mortise.LockException} if the latch is deleted or expires while it
   * is waited for, as {@link #await()} does: whether it was open before is unknown then.
   */
  CompletableFuture<Void> awaitAsync();

  /**
   * As {@link #awaitAsync()}, for so long at most; with no time it looks once. The value is whether
   * the latch is open. It fails with {@code io.mortise.StoreUnavailableException} if the store does
   * not answer at the end of that time.
   *
   * @throws IllegalArgumentException if the time is negative
   */
  CompletableFuture<Boolean> awaitAsync(Duration wait);

  /**
   * Removes the latch, open or not, so that its name can be used again. Waits fail that have seen
   * it. The store remembers the deletion for ten minutes, so that a late request does not begin the
   * latch again. Blocks.
   *
   * @return whether there was one
   * @throws InterruptedException if the thread is interrupted
   */
  boolean delete() throws InterruptedException;
}
