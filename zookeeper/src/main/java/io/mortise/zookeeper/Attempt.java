package io.mortise.zookeeper;

import io.mortise.spi.LockName;
import io.mortise.spi.Mode;

/**
 * One attempt of a session that has, or may have, a node. Kept small, for a process may hold many.
 * Guarded by its session.
 */
final class Attempt {
  final long number;
  final LockName name;
  private final Mode mode;
  State state = State.SENT;

  /** Whether its owner knows, or will be told, that somebody wants the lock. */
  boolean told;

  /** Whether it is to wait, or only tries. */
  boolean queues;

  /** Whether it was ever granted. */
  boolean held;

  /** Whether it is being ended. */
  boolean leaving;

  /** Whether it hears when the node {@link #watched} goes. */
  boolean watches;

  int watched;

  /** That of its node; unknown while it is sent. */
  int seq;

  /** The token of the first section of the hold: what is above the lower 16 bits. */
  long token;

  /** The present block of tokens: how far from the first, and how many. */
  int offset;

  int tokens;

  enum State {
    /** Its creation is on its way. */
    SENT,
    /** Its node stands in the line. */
    WAITING,
    /** It holds. */
    HELD,
    /** The connection was lost while its creation or removal was on its way. */
    DOUBT
  }

  Attempt(long number, LockName name, Mode mode, int tokens) {
    this.number = number;
    this.name = name;
    this.mode = mode;
    this.tokens = tokens;
  }

  int weight() {
    return mode.weight();
  }

  int capacity() {
    return mode.capacity();
  }

  boolean isExclusive() {
    return weight() == Mode.SHARERS;
  }

  boolean isShared() {
    return capacity() == Mode.SHARERS && weight() < capacity();
  }

  String node() {
    return Line.node(weight(), seq);
  }
}
