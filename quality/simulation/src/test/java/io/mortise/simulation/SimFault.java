package io.mortise.simulation;

import java.util.EnumSet;
import java.util.Set;

/** What can go wrong. A seed allows some of these, each with a strength of its own. */
enum SimFault {
  /** A request never arrives; the process is told after its timeout. */
  LOST_REQUEST,
  /** A request is executed, its answer never arrives. */
  LOST_REPLY,
  /** A request arrives out of order, perhaps after the process was told that it failed. */
  LATE_REQUEST,
  /** A request is executed twice, the second time out of order. */
  DUPLICATE,
  /** A connection breaks: what was under way is lost, executed, or executed late. */
  BREAK,
  /** A process and the store cannot reach each other, in one direction or both. */
  CUT,
  /** Some messages take long. */
  SLOW,
  PUSH_LOST,
  PUSH_LATE,
  PUSH_DUPLICATE,
  /** A process stops and goes on (garbage collection, SIGSTOP). */
  PAUSE,
  CRASH,
  /** A process dies, and its connections with it. */
  KILL,
  /** A process has no connection for pushes for a while, and the store knows. */
  DISCONNECT,
  /** A copy of a machine renews the same session for a while. */
  CLONE,
  /** A client is closed, with or without patience, and another opened. */
  CLOSE,
  SERVER_PAUSE,
  /** The store is gone for a while and keeps what it has. */
  OUTAGE,
  /** An operator ends holds and waits, shut until the holder is surely gone. */
  EVICT_CLOSE,

  /** An operator ends a hold at once: makes two believers by design. */
  EVICT_BREAK,
  /** A host sleeps and its monotonic clock with it. */
  SUSPEND,
  /** The store's clock is set forward. */
  CLOCK_FORWARD,
  /** The store's clock is set back by less than it takes to reach the latest token. */
  CLOCK_BACK,
  /** The store forgets everything. */
  STATE_LOSS,
  /** Another server takes over that has the sessions, but not all locks. */
  FORGET,
  /**
   * Many renewals take up to a TTL, before a store of documents: sessions end at the last moment.
   */
  SLOW_RENEWAL;

  /**
   * Against these no lock keeps a holder from believing too long; what stays is the order of
   * tokens.
   */
  static final Set<SimFault> BREAK_BELIEF =
      EnumSet.of(EVICT_BREAK, SUSPEND, CLOCK_FORWARD, STATE_LOSS, FORGET);

  /** With nothing but these, each request is executed once and answered. */
  static final Set<SimFault> ANSWERED =
      EnumSet.of(
          PUSH_LOST, PUSH_LATE, PUSH_DUPLICATE, CRASH, KILL, CLOSE, EVICT_CLOSE, EVICT_BREAK);

  /** With nothing but these, waits have their bounds at any time, not only after all is healed. */
  static final Set<SimFault> HARMLESS =
      EnumSet.of(PUSH_LOST, PUSH_LATE, PUSH_DUPLICATE, CRASH, KILL, DUPLICATE);
}
