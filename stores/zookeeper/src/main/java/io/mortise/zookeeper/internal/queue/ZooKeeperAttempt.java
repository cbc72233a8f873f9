package io.mortise.zookeeper.internal.queue;

import io.mortise.LockName;
import io.mortise.spi.Mode;
import io.mortise.zookeeper.internal.node.EndedAttempts.AttemptEnd;
import io.mortise.zookeeper.internal.node.LockQueue;
import io.mortise.zookeeper.internal.node.TokenEpoch;

/**
 * One attempt of a session that has, or may have, a node. Kept small, for a process may hold many.
 * Guarded by its session.
 */
public final class ZooKeeperAttempt {
  /** Tokens of one node: as many as 16 bits can tell apart. */
  static final int TOKENS = 1 << 16;

  private static final byte NO_DEMAND = 0;

  private static final byte WANTED = 1;

  /** So many wait that none of them should list them all. */
  private static final byte LONG_LINE = 2;

  final long number;
  public final LockName name;
  private final Mode mode;

  /** The state's place among all: a reference would take three bytes more. */
  private byte state;

  /**
   * What is known of others who want the lock; a reference to an enum would take three bytes more.
   */
  private byte demand;

  /** Whether it is to wait, or only tries. */
  boolean queues;

  /** Whether it is being ended. */
  boolean leaving;

  /** That of its node; unknown while it is sent. */
  int seq;

  /**
   * The first token of the present block: above the lower 16 bits the zxid of the hold's node and
   * where tokens begin ({@link TokenEpoch}), 0 until it is granted; in them how far the block is
   * from the hold's first.
   */
  private long token;

  /** How many the present block has. */
  int tokens;

  public enum NodeState {
    /** Its creation is on its way. */
    SENT,
    /** Its node stands in the queue. */
    WAITING,
    /** It holds. */
    HELD,
    /** The connection was lost while its creation or removal was on its way. */
    DOUBT;

    private static final NodeState[] ALL = values();
  }

  ZooKeeperAttempt(long number, LockName name, Mode mode, int tokens) {
    this.number = number;
    this.name = name;
    this.mode = mode;
    this.tokens = tokens;
  }

  public NodeState state() {
    return NodeState.ALL[state];
  }

  @SuppressWarnings("EnumOrdinal") // its place, within this JVM only
  void state(NodeState next) {
    state = (byte) next.ordinal();
  }

  /** Whether its owner knows, or will be told, that somebody wants the lock. */
  boolean isWanted() {
    return demand != NO_DEMAND;
  }

  /** Somebody waits. */
  void wanted() {
    if (!isWanted()) {
      demand = WANTED;
    }
  }

  /** Whether many stood behind its node when it was granted. */
  boolean hasLongQueue() {
    return demand == LONG_LINE;
  }

  /** Many stand behind its node. */
  void wantedByMany() {
    demand = LONG_LINE;
  }

  /** It holds. Where its block of tokens starts does not change. */
  void granted(long rank) {
    state(NodeState.HELD);
    // Below 2^47, for no session opens after too many elections.
    token = rank << 16 | offset();
  }

  /** Whether it was ever granted. */
  boolean wasHeld() {
    return rank() != 0;
  }

  /** How it ends if its session removes its node. */
  AttemptEnd ifReleased() {
    return wasHeld() ? AttemptEnd.HOLD_RELEASED : AttemptEnd.WAIT_RELEASED;
  }

  /** How it ends if another client removes its node. */
  AttemptEnd ifGone() {
    return wasHeld() ? AttemptEnd.HOLD_GONE : AttemptEnd.WAIT_GONE;
  }

  /** What its tokens are made of; 0 if it was never granted. */
  long rank() {
    return token >>> 16;
  }

  long token() {
    return token;
  }

  private int offset() {
    return (int) token & TOKENS - 1;
  }

  /** Where the next block begins, counted from the hold's first token. */
  public int next() {
    return offset() + tokens;
  }

  /**
   * Whether this attempt may have the node of that hold, which is about to be removed, as if the
   * hold had been passed on: nobody else is known to want the lock.
   */
  public boolean mayTakeOver(ZooKeeperAttempt previous) {
    return !previous.isWanted()
        && isExclusive()
        && capacity() == previous.capacity()
        && previous.next() + tokens <= TOKENS;
  }

  /** The present block begins there, counted from the hold's first token. */
  public void startAt(int offset) {
    token = rank() << 16 | offset;
  }

  public int weight() {
    return mode.weight();
  }

  public int capacity() {
    return mode.capacity();
  }

  boolean isExclusive() {
    return weight() == Mode.SHARERS;
  }

  boolean isShared() {
    return capacity() == Mode.SHARERS && weight() < capacity();
  }

  public String node() {
    return LockQueue.node(weight(), seq);
  }
}
