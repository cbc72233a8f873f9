package io.mortise.simulation;

import java.util.EnumSet;
import java.util.Set;

/** The faults. A seed allows some of them, each with its own strength. */
enum SimFault {
  /** A request never arrives; the process is told after its timeout. */
  LOST_REQUEST,
  /** A request is executed, its answer never arrives. */
  LOST_REPLY,
  /** A request arrives out of order, perhaps after the process was told that it failed. */
  LATE_REQUEST,
  /** A request is executed twice, the second time out of order. */
  DUPLICATE,
  /** A connection breaks: requests in flight are lost, executed, or executed late. */
  BREAK,
  /** A process and the store cannot reach each other, in one direction or both. */
  CUT,
  /** Some messages are slow. */
  SLOW,
  PUSH_LOST,
  PUSH_LATE,
  PUSH_DUPLICATE,
  /** A process is paused and resumes (garbage collection, SIGSTOP). */
  PAUSE,
  CRASH,
  /** A process dies, and its connections with it. */
  KILL,
  /** A process lacks its connection for pushes for a while, and the store knows. */
  DISCONNECT,
  /** A copy of a machine renews the same session for a while. */
  CLONE,
  /** A client is closed, with or without patience, and another opened. */
  CLOSE,
  SERVER_PAUSE,
  /** The store is down for a while and keeps its state. */
  OUTAGE,
  /** An operator ends holds and waits; the lock stays taken until the holder is surely gone. */
  EVICT_CLOSE,

  /** An operator ends a hold at once: makes two believers by design. */
  EVICT_BREAK,
  /** A host is suspended, and its monotonic clock stops. */
  SUSPEND,
  /** The store's clock is set forward. */
  CLOCK_FORWARD,
  /** The store's clock is set back by less than it takes to reach the latest token. */
  CLOCK_BACK,
  /** The store forgets everything. */
  STATE_LOSS,
  /** Failover to a server that has the sessions, but not all locks. */
  FORGET,
  /** Many renewals to a store of documents take up to a TTL: sessions end at the last moment. */
  SLOW_RENEWAL;

  /** Under these faults a holder may believe too long. Only the order of tokens is guaranteed. */
  static final Set<SimFault> BREAK_BELIEF =
      EnumSet.of(EVICT_BREAK, SUSPEND, CLOCK_FORWARD, STATE_LOSS, FORGET);

  /** With nothing but these, each request is executed once and answered. */
  static final Set<SimFault> ANSWERED =
      EnumSet.of(
          PUSH_LOST, PUSH_LATE, PUSH_DUPLICATE, CRASH, KILL, CLOSE, EVICT_CLOSE, EVICT_BREAK);

  /** With nothing but these, the bounds of waits hold at any time, not only after healing. */
  static final Set<SimFault> HARMLESS =
      EnumSet.of(PUSH_LOST, PUSH_LATE, PUSH_DUPLICATE, CRASH, KILL, DUPLICATE);
}
