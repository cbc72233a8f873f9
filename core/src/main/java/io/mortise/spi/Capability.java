package io.mortise.spi;

import io.mortise.HoldTerms;

/**
 * The capabilities of a store. A store refuses at once a request that needs a missing one, and
 * writes nothing.
 */
public enum Capability {
  /**
   * Holds depend on sessions that the store keeps. Without it:
   *
   * <ul>
   *   <li>Each hold ends by itself when a TTL has passed since it was granted or its session was
   *       last renewed. No judgement is needed.
   *   <li>The cost of a renewal grows with the number of holds.
   *   <li>A clone of the process is not noticed.
   *   <li>A holder is not notified that its lock is wanted, so every grant says that it may be
   *       ({@link Reply.Granted#wanted()}). The store may say so when the hold is released ({@link
   *       SessionNotification.Contended}).
   *   <li>The store may forget the end of a hold at once ({@link Reply.EndReason#UNKNOWN}). So an
   *       acquire that arrives after its own end may hold until its TTL is over.
   *   <li>A view of the lock may name only the attempt of its holder.
   * </ul>
   */
  SESSION,
  /** Waiting attempts stand in a queue in the store, and a release hands the lock over. */
  QUEUE,
  /** Several holders of {@link Mode#SHARED} at one time. */
  SHARED,
  /** Semaphores. */
  PERMITS,
  /** {@link HoldTerms#atMost()}. Without it the engine ends the hold, and no request names it. */
  AT_MOST,
  /** {@link HoldTerms#atLeast()}. */
  AT_LEAST,
  /** Fencing tokens. Without them every grant has token 0, regardless of the request. */
  TOKEN,
  /** {@link Request.Acquire#tokenFloor()}, {@link Request.Adjust#tokenFloor()}. */
  TOKEN_FLOOR,
  /** {@link Request.Adjust} to a smaller weight. */
  DOWNGRADE,
  /** {@link LockStore#evict}. */
  EVICT,
  /** Hints arrive without a request. */
  PUSH,
  /**
   * A holder is notified soon that another attempt has met its hold, so a hold may stand idle until
   * then ({@link AttemptId#isSticky()}): within a few round trips and {@link
   * StoreSession#callBackDelay}. The notification is pushed, or looked for ({@link
   * StoreSession#lookForCallBacks}); a break of that way is reported ({@link
   * StoreSession#onConnectionLost}). Needs {@link #SESSION} and {@link #QUEUE}.
   */
  CALL_BACK,
  /** {@link StoreSession#renew(long, long, java.util.List, java.time.Duration)}. */
  VARIABLE_TTL,
  /**
   * A hand-off passes over waiters whose process has lost its connection to the store, as it does
   * when it is killed. A waiter that is passed over keeps its place, and its own next request
   * grants it at the latest. This only reorders: a connection proves neither that a process lives
   * nor that it is dead.
   */
  SKIPS_DISCONNECTED,
  /**
   * The holds of a session outlive it until an acquire brings the proof of its death. Requests of
   * contenders serve the queue, in bounded steps. A store without this capability ends the holds
   * and waits of a session together with it, and serves the queue by itself: it never needs a
   * proof, and {@link Reply.Ended#more()} is never true. It has no meaning in a store without
   * {@link #SESSION}.
   */
  PROOF,
  /**
   * A lock has a record of its own: its last token and its last end, kept for a while also when the
   * lock is not used. In a store without this, only its own session knows an attempt's end, for as
   * long as it lives, and others see only the first token of a hold. It has no meaning in a store
   * without {@link #SESSION}.
   */
  RECORD,
  /** {@link LockStore#readFact} and {@link LockStore#replaceFact}. */
  FACTS
}
