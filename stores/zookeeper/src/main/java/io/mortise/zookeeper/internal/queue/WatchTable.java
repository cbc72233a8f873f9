package io.mortise.zookeeper.internal.queue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * Which node each waiting attempt of a session watches in one queue, and what the first waiter
 * knows besides. It does no I/O. Guarded by its session.
 */
final class WatchTable {
  /** The number of the node that an attempt watches, whose removal is to call it. */
  private final Map<ZooKeeperAttempt, Integer> watched = new HashMap<>();

  /** The attempts that watch a node, by its number; some may watch another node by now. */
  private final Map<Integer, List<ZooKeeperAttempt>> watchers = new HashMap<>();

  /** The first waiter, while it hears of all that its turn depends on. */
  private @Nullable NextWaiter next;

  /**
   * A waiter whose node stands right behind that of a holder.
   *
   * @param holder the number of the holder's node
   * @param czxid the transaction that created the waiter's node
   * @param behind how many nodes stand behind the waiter's, if that is known
   */
  record NextWaiter(ZooKeeperAttempt attempt, int holder, long czxid, OptionalInt behind) {}

  /** From now on the attempt waits for that node to go. */
  void watch(ZooKeeperAttempt attempt, int seq) {
    watched.put(attempt, seq);
    watchers.computeIfAbsent(seq, none -> new ArrayList<>(1)).add(attempt);
  }

  /** Whether the attempt is to be called when some node goes. */
  boolean watches(ZooKeeperAttempt attempt) {
    return watched.containsKey(attempt);
  }

  /** Whether the attempt is to be called when that node goes. */
  boolean watches(ZooKeeperAttempt attempt, int seq) {
    Integer node = watched.get(attempt);
    return node != null && node == seq;
  }

  /** From now on the attempt hears of its own node, and of the holder's if that is still there. */
  void next(ZooKeeperAttempt attempt, int holder, long czxid) {
    if (watches(attempt, holder)) {
      next = new NextWaiter(attempt, holder, czxid, OptionalInt.empty());
    }
  }

  /** How many nodes stand behind that of the next waiter. */
  void behindNext(ZooKeeperAttempt attempt, int behind) {
    if (next != null && next.attempt() == attempt) {
      next = new NextWaiter(attempt, next.holder(), next.czxid(), OptionalInt.of(behind));
    }
  }

  /** A node came or went. If none stood behind the next waiter's, one does now. */
  void queueChanged() {
    if (next != null && next.behind().equals(OptionalInt.of(0))) {
      behindNext(next.attempt(), 1);
    }
  }

  /** The first waiter, if it is to be called when that holder's node goes. */
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

  /** The attempt waits no more. */
  void leaves(ZooKeeperAttempt attempt) {
    watched.remove(attempt);
    if (next != null && next.attempt() == attempt) {
      next = null;
    }
  }

  /** The attempts that have waited for that node to go; they do so no more. */
  List<ZooKeeperAttempt> called(int seq) {
    List<ZooKeeperAttempt> called = watchers.remove(seq);
    if (called == null) {
      return List.of();
    }
    called.removeIf(attempt -> !watched.remove(attempt, seq));
    return called;
  }
}
