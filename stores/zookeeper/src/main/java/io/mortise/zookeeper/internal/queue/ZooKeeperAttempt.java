package io.mortise.zookeeper.internal.queue;

import io.mortise.LockName;
import io.mortise.spi.Mode;
import io.mortise.zookeeper.internal.node.EndedAttempts.AttemptEnd;
import io.mortise.zookeeper.internal.node.LockQueue;
import io.mortise.zookeeper.internal.node.TokenEpoch;

/**
 * One attempt of a session that has, or may have, a node. Kept small, as a process may hold many.
 * Guarded by its session.
 */
public final class ZooKeeperAttempt {
  /** Tokens of one node: as many as 16 bits distinguish. */
  static final int TOKENS = 1 << 16;

  private static final byte NO_DEMAND = 0;

  private static final byte WANTED = 1;

  /** The queue is so long that no waiter should list it. */
  private static final byte LONG_LINE = 2;

  final long number;
  public final LockName name;
  private final Mode mode;

  /** Ordinal of the state. A byte saves three bytes over a reference. */
  private byte state;

  /**
   * The known demand of others for the lock, as an ordinal; a reference would take three bytes
   * more.
   */
  private byte demand;

  /** Whether it may wait, or only tries. */
  boolean queues;

  /** Whether it is being ended. */
  boolean leaving;

  /** The sequence number of its node; unknown while the creation is in flight. */
  int seq;

  /**
   * The first token of the present block. The upper bits are the zxid of the hold's node plus the
   * token epoch ({@link TokenEpoch}), 0 until it is granted. The lower 16 bits are the block's
   * offset from the hold's first token.
   */
  private long token;

  /** Number of tokens in the present block. */
  int tokens;

  public enum NodeState {
    /** Its creation is in flight. */
    SENT,
    /** Its node is in the queue. */
    WAITING,
    /** It holds. */
    HELD,
    /** The connection was lost while its creation or removal was in flight. */
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

  @SuppressWarnings("EnumOrdinal") // The ordinal, within this JVM only.
  void state(NodeState next) {
    state = (byte) next.ordinal();
  }

  /** Whether its owner knows, or will be told, that another attempt wants the lock. */
  boolean isWanted() {
    return demand != NO_DEMAND;
  }

  /** Another attempt waits. */
  void wanted() {
    if (!isWanted()) {
      demand = WANTED;
    }
  }

  /** Whether many nodes were behind its node when it was granted. */
  boolean hasLongQueue() {
    return demand == LONG_LINE;
  }

  /** Many nodes are behind its node. */
  void wantedByMany() {
    demand = LONG_LINE;
  }

  /** It holds. The offset of its block of tokens does not change. */
  void granted(long rank) {
    state(NodeState.HELD);
    // Below 2^47, since no session opens after too many elections.
    token = rank << 16 | offset();
  }

  /** Whether it was ever granted. */
  boolean wasHeld() {
    return rank() != 0;
  }

  /** Its end if its session removes its node. */
  AttemptEnd ifReleased() {
    return wasHeld() ? AttemptEnd.HOLD_RELEASED : AttemptEnd.WAIT_RELEASED;
  }

  /** Its end if another client removes its node. */
  AttemptEnd ifGone() {
    return wasHeld() ? AttemptEnd.HOLD_GONE : AttemptEnd.WAIT_GONE;
  }

  /** The upper part of its tokens; 0 if it was never granted. */
  long rank() {
    return token >>> 16;
  }

  long token() {
    return token;
  }

  private int offset() {
    return (int) token & TOKENS - 1;
  }

  /** The offset of the next block from the hold's first token. */
  public int next() {
    return offset() + tokens;
  }

  /**
   * Whether this attempt may have the node of that hold, which is about to be removed, as if the
   * hold had been passed on: no other attempt is known to want the lock.
   */
  public boolean mayTakeOver(ZooKeeperAttempt previous) {
    return !previous.isWanted()
        && isExclusive()
        && capacity() == previous.capacity()
        && previous.next() + tokens <= TOKENS;
  }

  /** The present block begins at that offset from the hold's first token. */
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
