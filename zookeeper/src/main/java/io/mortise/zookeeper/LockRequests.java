package io.mortise.zookeeper;

import io.mortise.LockName;
import io.mortise.internal.storekit.OutboxLock;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What is going on in a session about one lock: requests in order, and those who wait. There is
 * none of a lock that is merely held. Guarded by its session.
 */
final class LockRequests {
  final LockName name;

  /** The lock's container. */
  final String path;

  final ArrayDeque<PendingRequest> pendingRequests = new ArrayDeque<>();

  /** The one whose answer is being found; the next begins after it. */
  @Nullable PendingRequest current;

  /** The current one, if it is to be answered by the next look that begins. */
  @Nullable PendingRequest requester;

  /**
   * Requests sent again of attempts that wait in a long queue, for the next read of their nodes.
   */
  final ArrayDeque<PendingRequest> polls = new ArrayDeque<>();

  /** Those whose nodes are being read. */
  List<PendingRequest> polled = List.of();

  /** Attempts of this session that wait, by number. */
  final Map<Long, ZooKeeperAttempt> waiting = new LinkedHashMap<>();

  /** The number of the node that an attempt watches, which is to call it when it goes. */
  private final Map<ZooKeeperAttempt, Integer> watched = new HashMap<>();

  /** Those who watch a node, by its number; some of them may watch another one by now. */
  private final Map<Integer, List<ZooKeeperAttempt>> watchers = new HashMap<>();

  /** The first who waits, while it hears of all that its turn depends on. */
  private @Nullable NextWaiter next;

  boolean looking;
  boolean lookAgain;

  /**
   * Whether the first who waits wants to hear of every change: for permits, any may be its turn.
   */
  boolean watchesAll;

  boolean recovering;

  /**
   * A waiter whose node stands right behind that of a holder.
   *
   * @param holder the number of the holder's node
   * @param czxid of its own node
   * @param behind how many stand behind it, as far as is known
   */
  record NextWaiter(ZooKeeperAttempt attempt, int holder, long czxid, int behind) {
    static final int UNKNOWN = -1;
  }

  LockRequests(LockName name, String path) {
    this.name = name;
    this.path = path;
  }

  /** The path of an attempt's node. */
  String node(ZooKeeperAttempt attempt) {
    return path + "/" + attempt.node();
  }

  /** From now on these wait for that node to go. */
  void watch(List<ZooKeeperAttempt> zooKeeperAttempts, int seq) {
    List<ZooKeeperAttempt> behind = watchers.computeIfAbsent(seq, none -> new ArrayList<>(1));
    for (ZooKeeperAttempt attempt : zooKeeperAttempts) {
      if (waiting.containsKey(attempt.number)) {
        watched.put(attempt, seq);
        behind.add(attempt);
      }
    }
  }

  /** Whether it is to be called when some node goes. */
  boolean watches(ZooKeeperAttempt attempt) {
    return watched.containsKey(attempt);
  }

  /** Whether it is to be called when that node goes. */
  boolean watches(ZooKeeperAttempt attempt, int seq) {
    Integer node = watched.get(attempt);
    return node != null && node == seq;
  }

  /** From now on it hears of its own node, and of the holder's if it has not left. */
  void next(ZooKeeperAttempt attempt, int holder, long czxid) {
    if (watches(attempt, holder)) {
      next = new NextWaiter(attempt, holder, czxid, NextWaiter.UNKNOWN);
    }
  }

  /** How many stand behind the next one; if nobody does, it hears when the first of them comes. */
  void behindNext(ZooKeeperAttempt attempt, int behind) {
    if (next != null && next.attempt() == attempt) {
      next = new NextWaiter(attempt, next.holder(), next.czxid(), behind);
    }
  }

  /** Somebody came, or left: nobody but the next one's own node and the holder's were there. */
  void queueChanged() {
    if (next != null && next.behind() == 0) {
      behindNext(next.attempt(), 1);
    }
  }

  /** The first who waits, if it is to be called when that holder's node goes. */
  @Nullable NextWaiter nextAfter(int holder) {
    return next != null && next.holder() == holder && watches(next.attempt(), holder) ? next : null;
  }

  /** Something happened to the node with this number. */
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

  /** It waits no more. */
  void leaves(ZooKeeperAttempt attempt) {
    waiting.remove(attempt.number);
    watched.remove(attempt);
    if (next != null && next.attempt() == attempt) {
      next = null;
    }
  }

  /** Those who have waited for that node to go; they do so no more. */
  List<ZooKeeperAttempt> called(int seq) {
    List<ZooKeeperAttempt> called = watchers.remove(seq);
    if (called == null) {
      return List.of();
    }
    called.removeIf(attempt -> !watched.remove(attempt, seq));
    return called;
  }

  /** Whether a request of this attempt is being answered, or waits for that. */
  boolean concerns(AttemptId attempt) {
    return (current != null && current.attempt().equals(attempt))
        || pendingRequests.stream().anyMatch(job -> job.attempt().equals(attempt));
  }

  /** Whether a request that comes now has to wait. */
  boolean isBusy() {
    return current != null && !recovering;
  }

  boolean isIdle() {
    return current == null
        && pendingRequests.isEmpty()
        && polls.isEmpty()
        && polled.isEmpty()
        && waiting.isEmpty()
        && !looking
        && !recovering;
  }

  /** A request, until it is answered. */
  static final class PendingRequest {
    final Request request;
    final long since;
    final boolean later;
    private @Nullable Consumer<Reply> sink;

    PendingRequest(Request request, long since, boolean later, Consumer<Reply> sink) {
      this.request = request;
      this.since = since;
      this.later = later;
      this.sink = sink;
    }

    AttemptId attempt() {
      return request.attempt();
    }

    /** Whether nobody waits for the answer any more, or it was given. */
    boolean isAnswered() {
      return sink == null;
    }

    /** The first answer counts; it is given when the guard is let go. */
    void answer(OutboxLock outboxLock, Reply reply) {
      Consumer<Reply> to = sink;
      if (to != null) {
        sink = null;
        outboxLock.afterUnlock(() -> to.accept(reply));
      }
    }
  }
}
