package io.mortise.spi;

import io.mortise.HoldTerms;

/**
 * What a store may or may not be able to do. A store refuses at once what it lacks, with nothing
 * written.
 */
public enum Capability {
  /**
   * Holds hang on sessions that the store keeps. Without it:
   *
   * <ul>
   *   <li>Each hold ends by itself when a TTL has passed since it was granted or its session was
   *       last renewed. Nobody needs to judge.
   *   <li>A renewal costs as much as there are holds.
   *   <li>A clone of the process is not noticed.
   *   <li>No holder is notified while it holds that its lock is wanted, so every grant says that it
   *       may be ({@link Reply.Granted#wanted()}). The store may say so when the hold is given back
   *       ({@link SessionNotification.Contended}).
   *   <li>How a hold ended may be forgotten at once ({@link Reply.EndReason#UNKNOWN}). So an
   *       acquire that arrives after its own end may hold until its TTL is over.
   *   <li>A view of the lock may name no more of its holder than the attempt.
   * </ul>
   */
  SESSION,
  /** Waiting attempts stand in a queue in the store, and a release hands over. */
  QUEUE,
  /** Several holders of {@link Mode#SHARED}. */
  SHARED,
  /** Semaphores. */
  PERMITS,
  /** {@link HoldTerms#atMost()}. */
  AT_MOST,
  /** {@link HoldTerms#atLeast()}. */
  AT_LEAST,
  /** Fencing tokens. Without them every grant has token 0, whatever was asked for. */
  TOKEN,
  /** {@link Request.Acquire#tokenFloor()}, {@link Request.Adjust#tokenFloor()}. */
  TOKEN_FLOOR,
  /** {@link Request.Adjust} to a smaller weight. */
  DOWNGRADE,
  /** {@link LockStore#evict}. */
  EVICT,
  /** Hints arrive without being asked for. */
  PUSH,
  /**
   * A holder hears within a few round trips that another attempt has met its hold, so that a hold
   * may stand idle until then ({@link AttemptId#isSticky()}): the note is pushed, and a loss of the
   * way of pushes is told ({@link StoreSession#onConnectionLost}). Needs {@link #SESSION}, {@link
   * #QUEUE} and {@link #PUSH}.
   */
  CALL_BACK,
  /** {@link StoreSession#renew(long, long, java.util.List, java.time.Duration)}. */
  VARIABLE_TTL,
  /**
   * A hand-off passes over waiters whose process has lost its connection to the store, as it does
   * when it is killed. A waiter that is passed keeps its place, and is granted by its own next
   * request at the latest. This only reorders: a connection proves neither that a process lives nor
   * that it is dead.
   */
  SKIPS_DISCONNECTED,
  /**
   * What a session holds outlives it until an acquire brings the proof of its death, and the queue
   * is served by the requests of contenders, in bounded steps. A store without this ends what hangs
   * on a session together with it, and serves the queue by itself: a proof is never needed, and
   * {@link Reply.Ended#more()} never said. Says nothing of a store without {@link #SESSION}.
   */
  PROOF,
  /**
   * A lock has a record of its own: its last token and its last end, for a while also when nobody
   * uses it. In a store without this, an attempt's end is known to its own session only, for as
   * long as that lives, and what others see of tokens is the first one of a hold. Says nothing of a
   * store without {@link #SESSION}.
   */
  RECORD,
  /** {@link LockStore#readFact} and {@link LockStore#replaceFact}. */
  FACTS
}
