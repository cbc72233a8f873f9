package io.mortise.recipe;

import io.mortise.annotation.Beta;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * A barrier across processes: parties wait there until a number of them have come, then all
 * continue. It is reusable: each use is a <em>generation</em>. Cheap, stateless, thread-safe: two
 * objects for one name are the same.
 *
 * <p><b>Promise.</b> The parties of a generation all pass, or all learn that it is broken, if they
 * live and reach the store. A generation is broken when one of its parties gives up (timeout,
 * interrupt, cancellation), or when the session of one ends before the last has come; the others
 * then get {@link BarrierBrokenException}. A party that comes after the last one belongs to the
 * next generation.
 *
 * <p><b>Giving up.</b> A blocking method that is interrupted while it waits reads the outcome from
 * the store: it throws {@link InterruptedException} only if the others did not pass. If they
 * passed, it returns; after another failure it throws that. In both cases the thread stays
 * interrupted. So it may block for some seconds more if the store does not answer. A future that is
 * completed or cancelled, and a client that is closed, end at once. The store learns of it a moment
 * later: until then the others may pass with this party.
 *
 * <p><b>Limits.</b> A dead party is noticed when its session ends: a TTL later, in a clockless
 * store not before another party has waited for it for a TTL. If the last party comes before that,
 * it passes with the dead one. If all waiting parties die, the generation is forgotten after 20 s,
 * and a last party that comes within them passes; in a clockless store the clocks of the parties'
 * hosts measure the 20 s. A party that cannot read the store for 20 s may treat a generation as
 * broken that the others passed.
 *
 * <p><b>How.</b> Each party holds a lock of its own while it waits, and queues for the lock of its
 * neighbour, which it gets when the neighbour is gone. The arrivals are counted in a small document
 * of the store. A waiter reads it after an eighth of the time that it has waited so far, at least
 * 10 ms and at most 500 ms, with jitter. So it passes up to half a second after the last arrival.
 *
 * <p>Each waiting method throws {@code io.mortise.UnsupportedByStoreException} if the store keeps
 * no such documents, {@code io.mortise.LockException} if the barrier is in use with another number
 * of parties, {@code io.mortise.StoreUnavailableException} if the store does not answer (the
 * generation may pass or break without this party), and {@link IllegalStateException} after the
 * client was closed; a future fails with them.
 */
@Beta
public interface DistributedBarrier {
  /** The maximum number of parties. */
  int MAX_PARTIES = 1_000;

  /** The name. */
  String name();

  /** The number of parties that pass together. */
  int parties();

  /**
   * Waits until all parties of a generation have come. Blocks. The same as {@link #enter()} and
   * {@link Passage#close()}.
   *
   * @return the number of the generation, the same for all of its parties. {@link
   *     java.util.concurrent.CyclicBarrier#await()} returns the index of the party instead: here
   *     {@link Passage#index()} is that, and it counts up from 0 for the first
   * @throws BarrierBrokenException if the generation is broken
   * @throws InterruptedException if the thread is interrupted before or while it waits; the
   *     generation is then broken if this party had arrived
   */
  long await() throws InterruptedException;

  /**
   * As {@link #await()}, for at most the given time.
   *
   * @throws io.mortise.LockTimeoutException if not all arrived in time; the generation is then
   *     broken if this party had arrived
   * @throws IllegalArgumentException if the time is negative
   * @throws BarrierBrokenException if the generation is broken
   * @throws InterruptedException if the thread is interrupted before or while it waits; the
   *     generation is then broken if this party had arrived
   */
  long await(Duration wait) throws InterruptedException;

  /**
   * As {@link #await()}, without blocking. Completing or cancelling the future breaks the
   * generation, unless all have arrived by then.
   */
  CompletableFuture<Long> awaitAsync();

  /** As {@link #await(Duration)}, without blocking. */
  CompletableFuture<Long> awaitAsync(Duration wait);

  /**
   * Waits until all parties of a generation have come, and stays a party, so that all can leave
   * together. Blocks.
   *
   * @throws BarrierBrokenException if the generation is broken
   * @throws InterruptedException if the thread is interrupted before or while it waits; the
   *     generation is then broken if this party had arrived
   */
  Passage enter() throws InterruptedException;

  /**
   * As {@link #enter()}, for at most the given time.
   *
   * @throws io.mortise.LockTimeoutException if not all arrived in time; the generation is then
   *     broken if this party had arrived
   * @throws IllegalArgumentException if the time is negative
   * @throws BarrierBrokenException if the generation is broken
   * @throws InterruptedException if the thread is interrupted before or while it waits; the
   *     generation is then broken if this party had arrived
   */
  Passage enter(Duration wait) throws InterruptedException;

  /**
   * As {@link #enter()}, without blocking. Completing or cancelling the future breaks the
   * generation, unless all have arrived by then.
   */
  CompletableFuture<Passage> enterAsync();

  /** As {@link #enter(Duration)}, without blocking. */
  CompletableFuture<Passage> enterAsync(Duration wait);

  /**
   * A party that has entered. It holds a lease until it has left or is closed; the others cannot
   * leave before it does. Thread-safe. To be left once.
   */
  interface Passage extends AutoCloseable {
    /** The number of the generation; a later one is greater while the barrier is remembered. */
    long generation();

    /** The order of arrival of this party: 0 for the first. */
    int index();

    /**
     * Waits until all parties of the generation want to leave. Blocks.
     *
     * @throws BarrierBrokenException if a party gave up, closed its passage or lost its session
     * @throws IllegalStateException if this party has left before, or is closed
     * @throws InterruptedException if the thread is interrupted before or while it waits; leaving
     *     is broken then
     */
    void leave() throws InterruptedException;

    /**
     * As {@link #leave()}, for at most the given time.
     *
     * @throws io.mortise.LockTimeoutException if not all came in time; leaving is broken then
     * @throws BarrierBrokenException if a party gave up, closed its passage or lost its session
     * @throws IllegalArgumentException if the time is negative
     * @throws IllegalStateException if this party has left before, or is closed
     * @throws InterruptedException if the thread is interrupted before or while it waits; leaving
     *     is broken then
     */
    void leave(Duration wait) throws InterruptedException;

    /**
     * As {@link #leave()}, without blocking. Completing or cancelling the future breaks the
     * leaving, unless all want to leave by then.
     */
    CompletableFuture<Void> leaveAsync();

    /** As {@link #leave(Duration)}, without blocking. */
    CompletableFuture<Void> leaveAsync(Duration wait);

    /**
     * Gives the passage up without waiting; does nothing if this party has left. Does not block.
     * Parties that wait to leave learn that this one is lost.
     */
    @Override
    void close();
  }
}
