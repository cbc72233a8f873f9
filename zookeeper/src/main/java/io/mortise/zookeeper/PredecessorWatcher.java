package io.mortise.zookeeper;

import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.zookeeper.LockRequests.PendingRequest;
import io.mortise.zookeeper.MultiRead.NodeContent;
import io.mortise.zookeeper.ZooKeeperAttempt.NodeState;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Finds out who holds a lock, and has those who wait called.
 *
 * <p><b>In a short line</b> the children are listed: two reads, and the answer can say who holds.
 * Who comes second reads and watches the number before its own only: of two nodes, that one holds.
 *
 * <p><b>In a long line</b> nobody lists. Sequence numbers have no gaps when they are given, so a
 * newcomer watches the number before its own; if that one is gone already, it lists once. A holder
 * that knows that many wait marks its node in the same transaction that removes it: whoever watches
 * it hears of the mark instead of the removal, and knows that it is the first. So a hand-over costs
 * one small read, however many wait. Who hears of a removal without a mark (in a short line, of a
 * waiter that left, of a session that ended) lists once, and watches the next one before it.
 *
 * <p><b>Nothing is believed</b> before the own node was read: it must be there, and be owned by
 * this very session. The first who waits knows that the one before it holds. It reads its own node
 * at once, and watches it too, so that it holds as soon as it hears that the holder has gone: it
 * would have heard before if its own node had. Guarded by the session.
 */
final class PredecessorWatcher {
  /** Up to so many children are listed by whoever arrives. */
  static final int SHORT = 64;

  private static final int TOLD = 64;

  private final SessionCore core;
  private final LockQueueManager turns;
  private final ContentionNotes contentionNotes;

  private int underWay;

  PredecessorWatcher(SessionCore core, LockQueueManager turns) {
    this.core = core;
    this.turns = turns;
    this.contentionNotes = new ContentionNotes(core, turns);
  }

  /** How many looks may yet bring news. */
  int underWay() {
    return underWay;
  }

  /** Notes to holders that this session has to remove if its ZooKeeper session goes on. */
  List<String> notes() {
    return contentionNotes.unread();
  }

  private ZooKeeper client() {
    return core.handle().client();
  }

  // ---- Arriving ----

  /**
   * A new node that is not the only one. Who is the second, or comes to a long line, looks at the
   * number before its own only; of two, that one holds.
   */
  void arrived(
      LockRequests turn,
      PendingRequest pendingRequest,
      ZooKeeperAttempt zooKeeperAttempt,
      int children) {
    boolean second = children == 2;
    if ((!second && children <= SHORT)
        || !zooKeeperAttempt.isExclusive()
        || !zooKeeperAttempt.queues) {
      lookFor(turn, pendingRequest);
      return;
    }
    int before = zooKeeperAttempt.seq - 1;
    if (second) {
      watchOwn(turn, zooKeeperAttempt, before, 0);
    }
    watch(
        turn,
        List.of(zooKeeperAttempt),
        LockQueue.node(zooKeeperAttempt.weight(), before),
        before,
        nodeContent -> {
          NodeData.AttemptData attemptData = NodeData.attempt(nodeContent.data());
          Stat stat = nodeContent.stat();
          if (stat != null && !second) {
            queued(turn, pendingRequest, zooKeeperAttempt, children - 1, null);
          } else if (stat != null && attemptData != null) {
            behindHolder(turn, pendingRequest, zooKeeperAttempt, attemptData, stat);
          } else {
            lookFor(turn, pendingRequest);
          }
        });
  }

  private void behindHolder(
      LockRequests turn,
      PendingRequest pendingRequest,
      ZooKeeperAttempt zooKeeperAttempt,
      NodeData.AttemptData holder,
      Stat stat) {
    contentionNotes.leave(
        List.of(holder.attempt()),
        () -> queued(turn, pendingRequest, zooKeeperAttempt, 1, holder(holder, stat)));
  }

  private Reply.Holder holder(NodeData.AttemptData attemptData, Stat stat) {
    return new Reply.Holder(
        attemptData.attempt(), core.tokenRank(stat.getCzxid()) << 16, attemptData.ttl());
  }

  /** The next look that begins answers this request. */
  void lookFor(LockRequests turn, PendingRequest pendingRequest) {
    turn.requester = pendingRequest;
    look(turn);
  }

  private void queued(
      LockRequests turn,
      PendingRequest pendingRequest,
      ZooKeeperAttempt zooKeeperAttempt,
      int ahead,
      Reply.@Nullable Holder holder) {
    turns.answer(
        pendingRequest,
        new Reply.Queued(core.attempt(zooKeeperAttempt.number), ahead, holder, core.retryAfter()));
    turns.finish(turn);
  }

  // ---- Watching ----

  /** Then is told what the node is, which is watched from now on if it is there. */
  private void watch(
      LockRequests turn,
      List<ZooKeeperAttempt> behind,
      String nodeContent,
      int seq,
      Consumer<NodeContent> then) {
    turn.watch(behind, seq);
    client()
        .getData(
            turn.path + "/" + nodeContent,
            core.handle(),
            (rc, path, context, data, stat) ->
                core.guard()
                    .run(
                        () -> {
                          if (core.isOver()) {
                            return;
                          }
                          if (rc != 0) {
                            // Nobody will call them.
                            turn.called(seq);
                          }
                          then.accept(rc == 0 ? new NodeContent(data, stat) : NodeContent.NONE);
                        }),
            null);
  }

  /**
   * The first who waits hears if its own node goes, or if somebody comes behind it. So when it
   * hears that the holder's node has gone, it holds, and knows whether the lock is wanted: over one
   * connection, what is watched is told in the order in which it happened.
   *
   * @param behind how many are known to stand behind it
   */
  private void watchOwn(
      LockRequests turn, ZooKeeperAttempt zooKeeperAttempt, int holder, int behind) {
    long connection = core.handle().connection();
    client()
        .getData(
            turn.node(zooKeeperAttempt),
            core.handle(),
            (rc, path, context, data, stat) ->
                core.guard()
                    .run(
                        () -> {
                          if (isSame(connection)
                              && rc == 0
                              && core.isOurs(new NodeContent(data, stat), zooKeeperAttempt)) {
                            turn.next(zooKeeperAttempt, holder, stat.getCzxid());
                            if (behind > 0) {
                              turn.behindNext(zooKeeperAttempt, behind);
                            }
                          }
                        }),
            null);
    if (behind > 0) {
      return;
    }
    client()
        .getChildren(
            turn.path,
            core.handle(),
            (int rc, String path, Object context, @Nullable List<String> children) ->
                core.guard()
                    .run(
                        () -> {
                          if (isSame(connection) && children != null) {
                            turn.behindNext(zooKeeperAttempt, Math.max(0, children.size() - 2));
                          }
                        }),
            null);
  }

  /** Whether nothing that is watched since then can have gone untold. */
  private boolean isSame(long connection) {
    return !core.isOver() && core.handle().isUp() && core.handle().connection() == connection;
  }

  /** The node with this number was removed, or marked. */
  void changed(LockRequests turn, EventType type, int seq) {
    LockRequests.NextWaiter nextWaiter = turn.nextAfter(seq);
    turn.happened(seq);
    List<ZooKeeperAttempt> concerned = turn.called(seq);
    if (concerned.isEmpty()) {
      return;
    }
    ZooKeeperAttempt only = concerned.get(0);
    if (type == EventType.NodeDeleted
        && nextWaiter != null
        && nextWaiter.behind() != LockRequests.NextWaiter.UNKNOWN
        && concerned.equals(List.of(nextWaiter.attempt()))
        && !only.leaving) {
      turns.grant(turn, only, nextWaiter.czxid(), nextWaiter.behind());
      announce(turn, only);
      return;
    }
    boolean alone = concerned.size() == 1 && only.isExclusive() && !turn.looking;
    if (alone && type == EventType.NodeDataChanged) {
      confirm(turn, only, LockQueue.node(Mode.SHARERS, seq));
    } else if (alone && turn.requester == null) {
      succeed(turn, only);
    } else {
      look(turn);
    }
  }

  /** What it watched has gone, and may have held: if it is the first by now, it holds. */
  private void succeed(LockRequests turn, ZooKeeperAttempt zooKeeperAttempt) {
    turn.looking = true;
    underWay++;
    QueueSnapshot queueSnapshot = new QueueSnapshot(null, false);
    MultiRead.line(
        client(),
        turn.path,
        turn.node(zooKeeperAttempt),
        (children, own) ->
            core.guard()
                .run(
                    () -> {
                      if (!core.isOver()) {
                        succeeded(turn, queueSnapshot, zooKeeperAttempt, children, own);
                      }
                    }));
  }

  private void succeeded(
      LockRequests turn,
      QueueSnapshot queueSnapshot,
      ZooKeeperAttempt zooKeeperAttempt,
      @Nullable List<String> children,
      NodeContent own) {
    Stat stat = own.stat();
    if (children == null) {
      turn.lookAgain = true;
      looked(turn);
      return;
    }
    LockQueue line = LockQueue.of(children, zooKeeperAttempt.capacity());
    boolean waits = turn.waiting.containsKey(zooKeeperAttempt.number) && !zooKeeperAttempt.leaving;
    if (waits
        && stat != null
        && line.indexOf(zooKeeperAttempt.seq) == 0
        && core.isOurs(own, zooKeeperAttempt)) {
      turns.grant(turn, zooKeeperAttempt, stat.getCzxid(), line.size() - 1);
      announce(turn, zooKeeperAttempt);
      looked(turn);
    } else {
      listed(turn, queueSnapshot, Code.OK, children);
    }
  }

  /** Whom it watched has held and gone: it is the first, if it is still there. */
  private void confirm(LockRequests turn, ZooKeeperAttempt zooKeeperAttempt, String before) {
    turn.looking = true;
    underWay++;
    MultiRead.nodes(
        client(),
        List.of(turn.node(zooKeeperAttempt), turn.path, turn.path + "/" + before),
        nodeContents ->
            core.guard()
                .run(
                    () -> {
                      if (core.isOver()) {
                        return;
                      }
                      Stat own = nodeContents == null ? null : nodeContents.get(0).stat();
                      Stat line = nodeContents == null ? null : nodeContents.get(1).stat();
                      if (nodeContents == null
                          || line == null
                          || nodeContents.get(2).stat() != null) {
                        turn.lookAgain = true;
                      } else if (zooKeeperAttempt.state() == NodeState.WAITING
                          && !zooKeeperAttempt.leaving) {
                        if (own == null || !core.isOurs(nodeContents.get(0), zooKeeperAttempt)) {
                          turns.vanished(turn, zooKeeperAttempt);
                        } else {
                          turns.grant(
                              turn, zooKeeperAttempt, own.getCzxid(), line.getNumChildren() - 1);
                          announce(turn, zooKeeperAttempt);
                        }
                      }
                      looked(turn);
                    }));
  }

  /** Whoever asks just now gets an answer, everybody else news. */
  private void announce(LockRequests turn, ZooKeeperAttempt zooKeeperAttempt) {
    PendingRequest current = turn.current;
    if (current != null
        && current.request instanceof Request.Acquire
        && !current.isAnswered()
        && current.attempt().equals(core.attempt(zooKeeperAttempt.number))) {
      turns.answer(current, turns.granted(zooKeeperAttempt));
    } else {
      turns.tellGranted(zooKeeperAttempt);
    }
  }

  // ---- Looking ----

  /** Lists the line, and does for each of our attempts what follows from it. */
  void look(LockRequests turn) {
    if (turn.looking) {
      turn.lookAgain = true;
      return;
    }
    turn.looking = true;
    underWay++;
    QueueSnapshot queueSnapshot = new QueueSnapshot(turn.requester, turn.watchesAll);
    turn.requester = null;
    client()
        .getChildren(
            turn.path,
            queueSnapshot.watching ? core.handle() : null,
            (rc, path, context, children) ->
                core.guard()
                    .run(
                        () -> {
                          if (!core.isOver()) {
                            listed(turn, queueSnapshot, Code.get(rc), children);
                          }
                        }),
            null);
  }

  /** One look, and what it found. */
  private static final class QueueSnapshot {
    /** Who is answered by it. */
    final @Nullable PendingRequest requester;

    /** Whether every change of the line is told from now on. */
    final boolean watching;

    final List<ZooKeeperAttempt> missing = new ArrayList<>();
    final List<ZooKeeperAttempt> holding = new ArrayList<>();
    LockQueue line = LockQueue.of(List.of(), 1);

    /** Whether the first who waits is ours. */
    boolean waits;

    /** How many holders were read. */
    int heads;

    Reply.@Nullable Holder holder;

    QueueSnapshot(@Nullable PendingRequest requester, boolean watching) {
      this.requester = requester;
      this.watching = watching;
    }
  }

  private @Nullable ZooKeeperAttempt asking(LockRequests turn, QueueSnapshot queueSnapshot) {
    return queueSnapshot.requester == null
        ? null
        : turn.waiting.get(queueSnapshot.requester.attempt().number());
  }

  private void listed(
      LockRequests turn, QueueSnapshot queueSnapshot, Code code, @Nullable List<String> children) {
    if (code != Code.OK && code != Code.NONODE) {
      failed(turn, queueSnapshot);
      return;
    }
    if (turn.waiting.isEmpty()) {
      conclude(turn, queueSnapshot);
      return;
    }
    int capacity = turn.waiting.values().iterator().next().capacity();
    LockQueue line = LockQueue.of(children == null ? List.of() : children, capacity);
    queueSnapshot.line = line;
    Map<Integer, List<ZooKeeperAttempt>> behind = new LinkedHashMap<>();
    for (ZooKeeperAttempt zooKeeperAttempt : turn.waiting.values()) {
      int index = line.indexOf(zooKeeperAttempt.seq);
      if (index < 0) {
        queueSnapshot.missing.add(zooKeeperAttempt);
      } else if (index < line.holding()) {
        queueSnapshot.holding.add(zooKeeperAttempt);
      } else if (zooKeeperAttempt.queues) {
        queueSnapshot.waits |= index == line.holding();
        int before = line.watched(index, zooKeeperAttempt.isShared());
        if (!turn.watches(zooKeeperAttempt, line.place(before).seq())) {
          if (index == 1 && zooKeeperAttempt.isExclusive()) {
            watchOwn(turn, zooKeeperAttempt, line.place(before).seq(), line.size() - 2);
          }
          behind.computeIfAbsent(before, unused -> new ArrayList<>()).add(zooKeeperAttempt);
        }
      }
    }
    behind.forEach((before, waiters) -> watchOne(turn, line.place(before), waiters));
    // For permits, any change may be the turn of the first who waits.
    boolean all = capacity != Mode.SHARERS && queueSnapshot.waits;
    turn.lookAgain |= all && !queueSnapshot.watching;
    turn.watchesAll = all;
    boolean asked = asking(turn, queueSnapshot) != null;
    queueSnapshot.heads = queueSnapshot.waits || asked ? Math.min(line.holding(), TOLD) : 0;
    List<String> paths = new ArrayList<>();
    for (int i = 0; i < queueSnapshot.heads; i++) {
      paths.add(turn.path + "/" + line.place(i).node());
    }
    queueSnapshot.holding.forEach(zooKeeperAttempt -> paths.add(turn.node(zooKeeperAttempt)));
    MultiRead.nodes(
        client(),
        paths,
        nodeContents ->
            core.guard()
                .run(
                    () -> {
                      if (core.isOver()) {
                        return;
                      }
                      if (nodeContents == null) {
                        failed(turn, queueSnapshot);
                      } else {
                        seen(turn, queueSnapshot, nodeContents);
                      }
                    }));
  }

  private void watchOne(
      LockRequests turn, LockQueue.QueueNode place, List<ZooKeeperAttempt> behind) {
    watch(
        turn,
        behind,
        place.node(),
        place.seq(),
        nodeContent -> {
          if (nodeContent.stat() == null) {
            look(turn);
          }
        });
  }

  private void seen(
      LockRequests turn, QueueSnapshot queueSnapshot, List<NodeContent> nodeContents) {
    for (ZooKeeperAttempt zooKeeperAttempt : queueSnapshot.missing) {
      if (turn.waiting.containsKey(zooKeeperAttempt.number)) {
        turns.vanished(turn, zooKeeperAttempt);
      }
    }
    int othersWait = queueSnapshot.line.size() - queueSnapshot.line.holding();
    int at = queueSnapshot.heads;
    for (ZooKeeperAttempt zooKeeperAttempt : queueSnapshot.holding) {
      NodeContent nodeContent = nodeContents.get(at++);
      Stat stat = nodeContent.stat();
      if (!turn.waiting.containsKey(zooKeeperAttempt.number)) {
        continue;
      }
      if (stat == null || !core.isOurs(nodeContent, zooKeeperAttempt)) {
        turns.vanished(turn, zooKeeperAttempt);
      } else {
        turns.grant(turn, zooKeeperAttempt, stat.getCzxid(), othersWait);
        if (zooKeeperAttempt.capacity() != Mode.SHARERS) {
          // Whoever watches it becomes the first who waits.
          client()
              .setData(
                  turn.node(zooKeeperAttempt), nodeContent.data(), -1, (rc, p, c, s) -> {}, null);
        }
        announce(turn, zooKeeperAttempt);
      }
    }
    ZooKeeperAttempt asking = asking(turn, queueSnapshot);
    boolean tries = asking != null && !asking.queues;
    List<AttemptId> untold = new ArrayList<>();
    for (int i = 0; i < queueSnapshot.heads; i++) {
      NodeData.AttemptData attemptData = NodeData.attempt(nodeContents.get(i).data());
      Stat stat = nodeContents.get(i).stat();
      if (attemptData != null && stat != null) {
        if (queueSnapshot.holder == null) {
          queueSnapshot.holder = holder(attemptData, stat);
        }
        if (queueSnapshot.waits || tries) {
          untold.add(attemptData.attempt());
        }
      }
    }
    contentionNotes.leave(untold, () -> conclude(turn, queueSnapshot));
  }

  /** Answers who asked, if it has not been answered by what was found. */
  private void conclude(LockRequests turn, QueueSnapshot queueSnapshot) {
    PendingRequest requester = queueSnapshot.requester;
    ZooKeeperAttempt zooKeeperAttempt = asking(turn, queueSnapshot);
    if (requester != null && zooKeeperAttempt == null) {
      // Granted, and answered; or it has vanished.
      turns.refuseAsRemoved(requester);
      turns.finish(turn);
    } else if (requester != null && zooKeeperAttempt != null && zooKeeperAttempt.queues) {
      queued(
          turn,
          requester,
          zooKeeperAttempt,
          Math.max(0, queueSnapshot.line.indexOf(zooKeeperAttempt.seq)),
          queueSnapshot.holder);
    } else if (requester != null && zooKeeperAttempt != null) {
      Reply.Holder holder = queueSnapshot.holder;
      turns
          .departures()
          .withdraw(
              turn,
              zooKeeperAttempt,
              () -> {
                turns.answer(
                    requester, new Reply.Busy(requester.attempt(), holder, core.retryAfter()));
                turns.finish(turn);
              });
    }
    looked(turn);
  }

  private void failed(LockRequests turn, QueueSnapshot queueSnapshot) {
    PendingRequest requester = queueSnapshot.requester;
    if (requester != null) {
      turns.fail(requester, true, "the connection was lost.");
      turns.finish(turn);
    }
    // Looked at again once there is a connection.
    turn.lookAgain = false;
    looked(turn);
  }

  private void looked(LockRequests turn) {
    turn.looking = false;
    underWay--;
    if (turn.lookAgain || turn.requester != null) {
      turn.lookAgain = false;
      look(turn);
    }
    turns.advance(turn);
    core.settled();
  }
}
