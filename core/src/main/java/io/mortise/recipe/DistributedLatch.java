package io.mortise.recipe;

import io.mortise.annotation.Beta;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * A latch across processes: it opens when a number of parties have counted down, and stays open
 * until it expires. Cheap, stateless, thread-safe: two objects for one name are the same.
 *
 * <p><b>Promise.</b> A party counts once, however often it counts down and even if answers are
 * lost. An open latch never closes before it expires or is deleted. A party that dies without
 * counting down does not count: give {@link #await(Duration)} a time, or use a {@link
 * DistributedBarrier}, which notices.
 *
 * <p><b>How.</b> A small document of the store lists the parties that have counted down, by a
 * digest of their names. A waiter reads it after an eighth of the time that it has waited so far,
 * at least 10 ms and at most 500 ms, with jitter. So it sees the opening up to half a second late.
 *
 * <p>Every method throws {@code io.mortise.UnsupportedByStoreException} if the store keeps no such
 * documents, {@code io.mortise.LockException} if the latch was begun with another number of
 * parties, {@code io.mortise.StoreUnavailableException} if the store does not answer, and {@link
 * IllegalStateException} after the client was closed; a future fails with them. If the store does
 * not answer, a call that does not wait for others fails after the store's timeout, or after twice
 * that if another count-down of this process is in flight. After an interrupt of a count-down or a
 * deletion it is unknown whether the store executed it.
 */
@Beta
public interface DistributedLatch {
  /** The maximum number of parties. */
  int MAX_PARTIES = 1_000;

  /** How long a latch is kept unless {@link #keepFor} says otherwise. */
  Duration DEFAULT_KEEP = Duration.ofDays(7);

  /** The name. */
  String name();

  /** The number of parties that have to count down. */
  int parties();

  /**
   * The same latch, with another time for which the store keeps it, counted from its latest
   * count-down by the store's clock. A clockless store uses the hosts' time of day, so a host whose
   * clock is ahead forgets the latch earlier by the difference. After that time the latch is as if
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
   * call counts; name the party if that matters. Blocks.
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
   * future leaves unknown whether this call does.
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
   * continues while the store does not answer.
   *
   * @throws InterruptedException if the thread is interrupted before or while it waits
   */
  void await() throws InterruptedException;

  /**
   * As {@link #await()}, for at most the given time; with zero it reads once.
   *
   * @return whether the latch is open
   * @throws IllegalArgumentException if the time is negative
   * @throws InterruptedException if the thread is interrupted before or while it waits
   */
  boolean await(Duration wait) throws InterruptedException;

  /**
   * Completes when the latch is open, on a thread of Mortise's own. Completing or cancelling the
   * future ends the wait; a wait writes nothing into the store.
   *
   * <p>It fails with {@code io.mortise.LockException} if the latch is deleted or expires during the
   * wait, as {@link #await()} does: whether it was open before is unknown then.
   */
  CompletableFuture<Void> awaitAsync();

  /**
   * As {@link #awaitAsync()}, for at most the given time; with zero it reads once. The value is
   * whether the latch is open. It fails with {@code io.mortise.StoreUnavailableException} if the
   * store does not answer at the end of that time.
   *
   * @throws IllegalArgumentException if the time is negative
   */
  CompletableFuture<Boolean> awaitAsync(Duration wait);

  /**
   * Removes the latch, open or not, so that its name can be used again. Waits that have seen the
   * latch fail. The store remembers the deletion for ten minutes, so that a late request does not
   * begin the latch again. Blocks.
   *
   * @return whether there was one
   * @throws InterruptedException if the thread is interrupted
   */
  boolean delete() throws InterruptedException;
}
