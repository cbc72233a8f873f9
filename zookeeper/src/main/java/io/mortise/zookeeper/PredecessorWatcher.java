package io.mortise.zookeeper;

import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.zookeeper.LockRequests.PendingRequest;
import io.mortise.zookeeper.ZooKeeperAttempt.NodeState;
import io.mortise.zookeeper.node.LockQueue;
import io.mortise.zookeeper.node.MultiRead.NodeContent;
import io.mortise.zookeeper.node.MultiRead;
import io.mortise.zookeeper.node.NodeData;
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
 * <p><b>In a short queue</b> the children are listed: two reads, and the answer can say who holds.
 * Who comes second reads and watches the number before its own only: of two nodes, that one holds.
 *
 * <p><b>In a long queue</b> nobody lists. Sequence numbers have no gaps when they are given, so a
 * newcomer watches the number before its own; if that one is gone already, it lists once. A holder
 * that knows that many wait marks its node in the same transaction that removes it: whoever watches
 * it hears of the mark instead of the removal, and knows that it is the first. So a hand-off costs
 * one small read, however many wait. Who hears of a removal without a mark (in a short queue, of a
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
  private final LockQueueManager queues;
  private final ContentionNotes contentionNotes;

  private int underWay;

  PredecessorWatcher(SessionCore core, LockQueueManager queues) {
    this.core = core;
    this.queues = queues;
    this.contentionNotes = new ContentionNotes(core, queues);
  }

  /** How many looks may yet bring a notification. */
  int underWay() {
    return underWay;
  }

  /** Notes to holders that this session has to remove if its ZooKeeper session goes on. */
  List<String> notes() {
    return contentionNotes.unread();
  }

  private ZooKeeper client() {
    return core.connection().client();
  }

  // ---- Arriving ----

  /**
   * A new node that is not the only one. Who is the second, or comes to a long queue, looks at the
   * number before its own only; of two, that one holds.
   */
  void arrived(
      LockRequests requests,
      PendingRequest pendingRequest,
      ZooKeeperAttempt zooKeeperAttempt,
      int children) {
    boolean second = children == 2;
    if ((!second && children <= SHORT)
        || !zooKeeperAttempt.isExclusive()
        || !zooKeeperAttempt.queues) {
      lookFor(requests, pendingRequest);
      return;
    }
    int before = zooKeeperAttempt.seq - 1;
    if (second) {
      watchOwn(requests, zooKeeperAttempt, before, 0);
    }
    watch(
        requests,
        List.of(zooKeeperAttempt),
        LockQueue.node(zooKeeperAttempt.weight(), before),
        before,
        nodeContent -> {
          NodeData.AttemptData attemptData = NodeData.attempt(nodeContent.data());
          Stat stat = nodeContent.stat();
          if (stat != null && !second) {
            queued(requests, pendingRequest, zooKeeperAttempt, children - 1, null);
          } else if (stat != null && attemptData != null) {
            behindHolder(requests, pendingRequest, zooKeeperAttempt, attemptData, stat);
          } else {
            lookFor(requests, pendingRequest);
          }
        });
  }

  private void behindHolder(
      LockRequests requests,
      PendingRequest pendingRequest,
      ZooKeeperAttempt zooKeeperAttempt,
      NodeData.AttemptData holder,
      Stat stat) {
    contentionNotes.leave(
        List.of(holder.attempt()),
        () -> queued(requests, pendingRequest, zooKeeperAttempt, 1, holder(holder, stat)));
  }

  private Reply.Holder holder(NodeData.AttemptData attemptData, Stat stat) {
    return new Reply.Holder(
        attemptData.attempt(), core.tokenRank(stat.getCzxid()) << 16, attemptData.ttl());
  }

  /** The next look that begins answers this request. */
  void lookFor(LockRequests requests, PendingRequest pendingRequest) {
    requests.requester = pendingRequest;
    look(requests);
  }

  private void queued(
      LockRequests requests,
      PendingRequest pendingRequest,
      ZooKeeperAttempt zooKeeperAttempt,
      int ahead,
      Reply.@Nullable Holder holder) {
    queues.answer(
        pendingRequest,
        new Reply.Queued(core.attempt(zooKeeperAttempt.number), ahead, holder, core.retryAfter()));
    queues.finish(requests);
  }

  // ---- Watching ----

  /** Then is told what the node is, which is watched from now on if it is there. */
  private void watch(
      LockRequests requests,
      List<ZooKeeperAttempt> behind,
      String node,
      int seq,
      Consumer<NodeContent> then) {
    requests.watch(behind, seq);
    client()
        .getData(
            requests.path + "/" + node,
            core.connection(),
            (rc, path, context, data, stat) ->
                core.guard()
                    .run(
                        () -> {
                          if (core.isOver()) {
                            return;
                          }
                          if (rc != 0) {
                            // Nobody will call them.
                            requests.called(seq);
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
      LockRequests requests, ZooKeeperAttempt zooKeeperAttempt, int holder, int behind) {
    long connection = core.connection().connectionNumber();
    client()
        .getData(
            requests.node(zooKeeperAttempt),
            core.connection(),
            (rc, path, context, data, stat) ->
                core.guard()
                    .run(
                        () -> {
                          if (isSame(connection)
                              && rc == 0
                              && core.isOurs(new NodeContent(data, stat), zooKeeperAttempt)) {
                            requests.next(zooKeeperAttempt, holder, stat.getCzxid());
                            if (behind > 0) {
                              requests.behindNext(zooKeeperAttempt, behind);
                            }
                          }
                        }),
            null);
    if (behind > 0) {
      return;
    }
    client()
        .getChildren(
            requests.path,
            core.connection(),
            (int rc, String path, Object context, @Nullable List<String> children) ->
                core.guard()
                    .run(
                        () -> {
                          if (isSame(connection) && children != null) {
                            requests.behindNext(zooKeeperAttempt, Math.max(0, children.size() - 2));
                          }
                        }),
            null);
  }

  /** Whether nothing that is watched since then can have gone untold. */
  private boolean isSame(long connection) {
    return !core.isOver()
        && core.connection().isUp()
        && core.connection().connectionNumber() == connection;
  }

  /** The node with this number was removed, or marked. */
  void changed(LockRequests requests, EventType type, int seq) {
    LockRequests.NextWaiter nextWaiter = requests.nextAfter(seq);
    requests.happened(seq);
    List<ZooKeeperAttempt> concerned = requests.called(seq);
    if (concerned.isEmpty()) {
      return;
    }
    ZooKeeperAttempt only = concerned.get(0);
    if (type == EventType.NodeDeleted
        && nextWaiter != null
        && nextWaiter.behind() != LockRequests.NextWaiter.UNKNOWN
        && concerned.equals(List.of(nextWaiter.attempt()))
        && !only.leaving) {
      queues.grant(requests, only, nextWaiter.czxid(), nextWaiter.behind());
      announce(requests, only);
      return;
    }
    boolean alone = concerned.size() == 1 && only.isExclusive() && !requests.looking;
    if (alone && type == EventType.NodeDataChanged) {
      confirm(requests, only, LockQueue.node(Mode.SHARERS, seq));
    } else if (alone && requests.requester == null) {
      succeed(requests, only);
    } else {
      look(requests);
    }
  }

  /** What it watched has gone, and may have held: if it is the first by now, it holds. */
  private void succeed(LockRequests requests, ZooKeeperAttempt zooKeeperAttempt) {
    requests.looking = true;
    underWay++;
    QueueSnapshot queueSnapshot = new QueueSnapshot(null, false);
    MultiRead.queue(
        client(),
        requests.path,
        requests.node(zooKeeperAttempt),
        (children, own) ->
            core.guard()
                .run(
                    () -> {
                      if (!core.isOver()) {
                        succeeded(requests, queueSnapshot, zooKeeperAttempt, children, own);
                      }
                    }));
  }

  private void succeeded(
      LockRequests requests,
      QueueSnapshot queueSnapshot,
      ZooKeeperAttempt zooKeeperAttempt,
      @Nullable List<String> children,
      NodeContent own) {
    Stat stat = own.stat();
    if (children == null) {
      requests.lookAgain = true;
      looked(requests);
      return;
    }
    LockQueue queue = LockQueue.of(children, zooKeeperAttempt.capacity());
    boolean waits =
        requests.waiting.containsKey(zooKeeperAttempt.number) && !zooKeeperAttempt.leaving;
    if (waits
        && stat != null
        && queue.indexOf(zooKeeperAttempt.seq) == 0
        && core.isOurs(own, zooKeeperAttempt)) {
      queues.grant(requests, zooKeeperAttempt, stat.getCzxid(), queue.size() - 1);
      announce(requests, zooKeeperAttempt);
      looked(requests);
    } else {
      listed(requests, queueSnapshot, Code.OK, children);
    }
  }

  /** Whom it watched has held and gone: it is the first, if it is still there. */
  private void confirm(LockRequests requests, ZooKeeperAttempt zooKeeperAttempt, String before) {
    requests.looking = true;
    underWay++;
    MultiRead.nodes(
        client(),
        List.of(requests.node(zooKeeperAttempt), requests.path, requests.path + "/" + before),
        nodeContents ->
            core.guard()
                .run(
                    () -> {
                      if (core.isOver()) {
                        return;
                      }
                      Stat own = nodeContents == null ? null : nodeContents.get(0).stat();
                      Stat lockStat = nodeContents == null ? null : nodeContents.get(1).stat();
                      if (nodeContents == null
                          || lockStat == null
                          || nodeContents.get(2).stat() != null) {
                        requests.lookAgain = true;
                      } else if (zooKeeperAttempt.state() == NodeState.WAITING
                          && !zooKeeperAttempt.leaving) {
                        if (own == null || !core.isOurs(nodeContents.get(0), zooKeeperAttempt)) {
                          queues.vanished(requests, zooKeeperAttempt);
                        } else {
                          queues.grant(
                              requests,
                              zooKeeperAttempt,
                              own.getCzxid(),
                              lockStat.getNumChildren() - 1);
                          announce(requests, zooKeeperAttempt);
                        }
                      }
                      looked(requests);
                    }));
  }

  /** A request in flight gets an answer, all others a notification. */
  private void announce(LockRequests requests, ZooKeeperAttempt zooKeeperAttempt) {
    PendingRequest current = requests.current;
    if (current != null
        && current.request instanceof Request.Acquire
        && !current.isAnswered()
        && current.attempt().equals(core.attempt(zooKeeperAttempt.number))) {
      queues.answer(current, queues.granted(zooKeeperAttempt));
    } else {
      queues.tellGranted(zooKeeperAttempt);
    }
  }

  // ---- Looking ----

  /** Lists the queue, and does for each of our attempts what follows from it. */
  void look(LockRequests requests) {
    if (requests.looking) {
      requests.lookAgain = true;
      return;
    }
    requests.looking = true;
    underWay++;
    QueueSnapshot queueSnapshot = new QueueSnapshot(requests.requester, requests.watchesAll);
    requests.requester = null;
    client()
        .getChildren(
            requests.path,
            queueSnapshot.watching ? core.connection() : null,
            (rc, path, context, children) ->
                core.guard()
                    .run(
                        () -> {
                          if (!core.isOver()) {
                            listed(requests, queueSnapshot, Code.get(rc), children);
                          }
                        }),
            null);
  }

  /** One look, and what it found. */
  private static final class QueueSnapshot {
    /** Who is answered by it. */
    final @Nullable PendingRequest requester;

    /** Whether every change of the queue is told from now on. */
    final boolean watching;

    final List<ZooKeeperAttempt> missing = new ArrayList<>();
    final List<ZooKeeperAttempt> holding = new ArrayList<>();
    LockQueue queue = LockQueue.of(List.of(), 1);

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

  private @Nullable ZooKeeperAttempt asking(LockRequests requests, QueueSnapshot queueSnapshot) {
    return queueSnapshot.requester == null
        ? null
        : requests.waiting.get(queueSnapshot.requester.attempt().number());
  }

  private void listed(
      LockRequests requests,
      QueueSnapshot queueSnapshot,
      Code code,
      @Nullable List<String> children) {
    if (code != Code.OK && code != Code.NONODE) {
      failed(requests, queueSnapshot);
      return;
    }
    if (requests.waiting.isEmpty()) {
      conclude(requests, queueSnapshot);
      return;
    }
    int capacity = requests.waiting.values().iterator().next().capacity();
    LockQueue queue = LockQueue.of(children == null ? List.of() : children, capacity);
    queueSnapshot.queue = queue;
    Map<Integer, List<ZooKeeperAttempt>> behind = new LinkedHashMap<>();
    for (ZooKeeperAttempt zooKeeperAttempt : requests.waiting.values()) {
      int index = queue.indexOf(zooKeeperAttempt.seq);
      if (index < 0) {
        queueSnapshot.missing.add(zooKeeperAttempt);
      } else if (index < queue.holding()) {
        queueSnapshot.holding.add(zooKeeperAttempt);
      } else if (zooKeeperAttempt.queues) {
        queueSnapshot.waits |= index == queue.holding();
        int before = queue.watched(index, zooKeeperAttempt.isShared());
        if (!requests.watches(zooKeeperAttempt, queue.place(before).seq())) {
          if (index == 1 && zooKeeperAttempt.isExclusive()) {
            watchOwn(requests, zooKeeperAttempt, queue.place(before).seq(), queue.size() - 2);
          }
          behind.computeIfAbsent(before, unused -> new ArrayList<>()).add(zooKeeperAttempt);
        }
      }
    }
    behind.forEach((before, waiters) -> watchOne(requests, queue.place(before), waiters));
    // For permits, any change may be the turn of the first who waits.
    boolean all = capacity != Mode.SHARERS && queueSnapshot.waits;
    requests.lookAgain |= all && !queueSnapshot.watching;
    requests.watchesAll = all;
    boolean asked = asking(requests, queueSnapshot) != null;
    queueSnapshot.heads = queueSnapshot.waits || asked ? Math.min(queue.holding(), TOLD) : 0;
    List<String> paths = new ArrayList<>();
    for (int i = 0; i < queueSnapshot.heads; i++) {
      paths.add(requests.path + "/" + queue.place(i).node());
    }
    queueSnapshot.holding.forEach(zooKeeperAttempt -> paths.add(requests.node(zooKeeperAttempt)));
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
                        failed(requests, queueSnapshot);
                      } else {
                        seen(requests, queueSnapshot, nodeContents);
                      }
                    }));
  }

  private void watchOne(
      LockRequests requests, LockQueue.QueueNode place, List<ZooKeeperAttempt> behind) {
    watch(
        requests,
        behind,
        place.node(),
        place.seq(),
        nodeContent -> {
          if (nodeContent.stat() == null) {
            look(requests);
          }
        });
  }

  private void seen(
      LockRequests requests, QueueSnapshot queueSnapshot, List<NodeContent> nodeContents) {
    for (ZooKeeperAttempt zooKeeperAttempt : queueSnapshot.missing) {
      if (requests.waiting.containsKey(zooKeeperAttempt.number)) {
        queues.vanished(requests, zooKeeperAttempt);
      }
    }
    int othersWait = queueSnapshot.queue.size() - queueSnapshot.queue.holding();
    int at = queueSnapshot.heads;
    for (ZooKeeperAttempt zooKeeperAttempt : queueSnapshot.holding) {
      NodeContent nodeContent = nodeContents.get(at++);
      Stat stat = nodeContent.stat();
      if (!requests.waiting.containsKey(zooKeeperAttempt.number)) {
        continue;
      }
      if (stat == null || !core.isOurs(nodeContent, zooKeeperAttempt)) {
        queues.vanished(requests, zooKeeperAttempt);
      } else {
        queues.grant(requests, zooKeeperAttempt, stat.getCzxid(), othersWait);
        if (zooKeeperAttempt.capacity() != Mode.SHARERS) {
          // Whoever watches it becomes the first who waits.
          client()
              .setData(
                  requests.node(zooKeeperAttempt),
                  nodeContent.data(),
                  -1,
                  (rc, p, c, s) -> {},
                  null);
        }
        announce(requests, zooKeeperAttempt);
      }
    }
    ZooKeeperAttempt asking = asking(requests, queueSnapshot);
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
    contentionNotes.leave(untold, () -> conclude(requests, queueSnapshot));
  }

  /** Answers who asked, if it has not been answered by what was found. */
  private void conclude(LockRequests requests, QueueSnapshot queueSnapshot) {
    PendingRequest requester = queueSnapshot.requester;
    ZooKeeperAttempt zooKeeperAttempt = asking(requests, queueSnapshot);
    if (requester != null && zooKeeperAttempt == null) {
      // Granted, and answered; or it has vanished.
      queues.refuseAsRemoved(requester);
      queues.finish(requests);
    } else if (requester != null && zooKeeperAttempt != null && zooKeeperAttempt.queues) {
      queued(
          requests,
          requester,
          zooKeeperAttempt,
          Math.max(0, queueSnapshot.queue.indexOf(zooKeeperAttempt.seq)),
          queueSnapshot.holder);
    } else if (requester != null && zooKeeperAttempt != null) {
      Reply.Holder holder = queueSnapshot.holder;
      queues
          .releaseHandler()
          .withdraw(
              requests,
              zooKeeperAttempt,
              () -> {
                queues.answer(
                    requester, new Reply.Busy(requester.attempt(), holder, core.retryAfter()));
                queues.finish(requests);
              });
    }
    looked(requests);
  }

  private void failed(LockRequests requests, QueueSnapshot queueSnapshot) {
    PendingRequest requester = queueSnapshot.requester;
    if (requester != null) {
      queues.fail(requester, true, "the connection was lost.");
      queues.finish(requests);
    }
    // Looked at again once there is a connection.
    requests.lookAgain = false;
    looked(requests);
  }

  private void looked(LockRequests requests) {
    requests.looking = false;
    underWay--;
    if (requests.lookAgain || requests.requester != null) {
      requests.lookAgain = false;
      look(requests);
    }
    queues.advance(requests);
    core.settled();
  }
}
