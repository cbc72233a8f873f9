package io.mortise.zookeeper.internal.queue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * The node that each waiting attempt of a session watches in one queue, and the additional state of
 * the first waiter. It does no I/O. Guarded by its session.
 */
final class WatchTable {
  /** The number of the node that an attempt watches, whose removal calls the attempt. */
  private final Map<ZooKeeperAttempt, Integer> watched = new HashMap<>();

  /** The attempts that watch a node, by its number; some may watch another node by now. */
  private final Map<Integer, List<ZooKeeperAttempt>> watchers = new HashMap<>();

  /** The first waiter, while it is notified of all events that its turn depends on. */
  private @Nullable NextWaiter next;

  /**
   * A waiter whose node is right behind that of a holder.
   *
   * @param holder the number of the holder's node
   * @param czxid the transaction that created the waiter's node
   * @param behind how many nodes are behind the waiter's, if known
   */
  record NextWaiter(ZooKeeperAttempt attempt, int holder, long czxid, OptionalInt behind) {}

  /** From now on the attempt waits for that node's removal. */
  void watch(ZooKeeperAttempt attempt, int seq) {
    watched.put(attempt, seq);
    watchers.computeIfAbsent(seq, none -> new ArrayList<>(1)).add(attempt);
  }

  /** Whether the removal of some node calls the attempt. */
  boolean watches(ZooKeeperAttempt attempt) {
    return watched.containsKey(attempt);
  }

  /** Whether the removal of that node calls the attempt. */
  boolean watches(ZooKeeperAttempt attempt, int seq) {
    Integer node = watched.get(attempt);
    return node != null && node == seq;
  }

  /** Whether the removal of that node calls a reader. */
  boolean hasReader(int seq) {
    return watchers.getOrDefault(seq, List.of()).stream().anyMatch(ZooKeeperAttempt::isShared);
  }

  /**
   * From now on the attempt is notified about its own node, and about the holder's if it still
   * exists.
   */
  void next(ZooKeeperAttempt attempt, int holder, long czxid) {
    if (watches(attempt, holder)) {
      next = new NextWaiter(attempt, holder, czxid, OptionalInt.empty());
    }
  }

  /** How many nodes are behind that of the next waiter. */
  void behindNext(ZooKeeperAttempt attempt, int behind) {
    if (next != null && next.attempt() == attempt) {
      next = new NextWaiter(attempt, next.holder(), next.czxid(), OptionalInt.of(behind));
    }
  }

  /** A node was added or removed. If none was behind the next waiter's, one is now. */
  void queueChanged() {
    if (next != null && next.behind().equals(OptionalInt.of(0))) {
      behindNext(next.attempt(), 1);
    }
  }

  /** The first waiter, if the removal of that holder's node calls it. */
  @Nullable NextWaiter nextAfter(int holder) {
    return next != null && next.holder() == holder && watches(next.attempt(), holder) ? next : null;
  }

  /** The node with this number was removed, or written to. */
  void happened(int seq) {
    if (next != null && (next.attempt().seq == seq || next.holder() == seq)) {
      next = null;
    }
  }

  /** Events may be missed, or come in another order. */
  void forgetNext() {
    next = null;
  }

  void watchesNothing(ZooKeeperAttempt attempt) {
    watched.remove(attempt);
  }

  /** The attempt no longer waits. */
  void leaves(ZooKeeperAttempt attempt) {
    watched.remove(attempt);
    if (next != null && next.attempt() == attempt) {
      next = null;
    }
  }

  /** Removes and returns the attempts that have waited for that node's removal. */
  List<ZooKeeperAttempt> called(int seq) {
    List<ZooKeeperAttempt> called = watchers.remove(seq);
    if (called == null) {
      return List.of();
    }
    called.removeIf(attempt -> !watched.remove(attempt, seq));
    return called;
  }
}
