package io.mortise.spi;

import io.mortise.UnsupportedByStoreException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * A running system that keeps lock tables: what a backend implements. Every step is atomic, bounded
 * (at most 64 items, then {@code more}) and the same as that of the in-memory reference machine,
 * with which each store is compared.
 *
 * <p>Nothing here retries, sleeps or waits for a lock: who waits, when to ask again and what a
 * silence means is decided by the engine. Thread-safe. Stages complete exceptionally with {@link
 * io.mortise.StoreUnavailableException} if the store does not answer.
 */
public interface LockStore extends AutoCloseable {
  /** What it is and can do. */
  StoreProfile profile();

  /**
   * Prepares a session; sends nothing. The first renewal creates it.
   *
   * @param hints receives pushed news; called on any thread, with no lock of the store held, must
   *     be fast
   */
  StoreSession open(SessionSpec spec, Consumer<News> hints);

  /**
   * Decides whether a session has ended, by the store's own time, and if so ends it for good. A
   * step of its own: no other step decides that a holder is dead. Completes exceptionally with
   * {@link io.mortise.UnsupportedByStoreException} if the store keeps no sessions ({@link
   * Capability#SESSION}).
   */
  CompletionStage<Verdict> judge(SessionId session);

  /** Looks at locks without changing anything. */
  CompletionStage<LockPage> inspect(LockQuery query);

  /**
   * Ends somebody's attempt from outside, and leaves {@link News.Gone} for its session.
   *
   * @return {@link Reply.Ended} with {@code was} telling what the attempt did; for {@link
   *     Eviction#CLOSE} a hold may still stand, {@code how} is then {@link Reply.How#EVICTED} all
   *     the same; completes exceptionally with {@link io.mortise.UnsupportedByStoreException} if
   *     the store cannot evict
   */
  CompletionStage<Reply.Ended> evict(LockName name, AttemptId attempt, Eviction how);

  /**
   * Opens a lock that a hold which has ended keeps shut (its at-least time, or a crash under one),
   * and serves the queue. Holds stand, with their own at-least times.
   *
   * @return whether it was shut; completes exceptionally with {@link
   *     io.mortise.UnsupportedByStoreException} if the store cannot evict
   */
  default CompletionStage<Boolean> reopen(LockName name) {
    return CompletableFuture.failedFuture(
        new UnsupportedByStoreException("Store '" + profile().display() + "' cannot open locks."));
  }

  /**
   * Removes what dead processes and idle locks left behind: at most {@code budget} sessions and
   * locks, and of each lock at most 64 holders.
   *
   * @return how many were removed
   */
  CompletionStage<Integer> sweep(int budget);

  /**
   * Called by a thread that has asked for something and is about to park until it is answered.
   * Where answers are faster than the waking of a thread, a store may let it ask for and fetch its
   * answer itself; most do nothing. Never called on a virtual thread. Returns whether or not the
   * answer has come; that the thread was interrupted is looked at afterwards.
   *
   * @param done whether the thread has no reason to wait any more; quick, and may be called often
   * @param longest how long the thread would wait for an answer; a store that might keep it longer
   *     must let it go at once, but for two milliseconds
   */
  default void linger(BooleanSupplier done, Duration longest) {}

  /**
   * Closes connections and threads that the store made. Sessions should be closed before. Blocks
   * for seconds at most.
   */
  @Override
  void close();

  /** How to evict. */
  enum Eviction {
    /**
     * The holder is told and has until the end of its session's TTL; until then the lock stays
     * shut.
     */
    CLOSE,
    /** At once. The holder may go on believing that it holds until it hears of it. */
    BREAK
  }
}
