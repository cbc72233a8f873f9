package io.mortise.zookeeper;

import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.zookeeper.LockRequests.PendingRequest;
import io.mortise.zookeeper.ZooKeeperAttempt.NodeState;
import io.mortise.zookeeper.internal.node.LockQueue;
import io.mortise.zookeeper.internal.node.MultiRead;
import io.mortise.zookeeper.internal.node.MultiRead.NodeContent;
import io.mortise.zookeeper.internal.node.NodeData;
import java.util.List;
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

  private final SessionCore core;
  private final LockQueueManager queues;
  private final ContentionNotes contentionNotes;
  private final QueueScan queueScan;

  PredecessorWatcher(SessionCore core, LockQueueManager queues) {
    this.core = core;
    this.queues = queues;
    this.contentionNotes = new ContentionNotes(core, queues);
    this.queueScan = new QueueScan(core, queues, this, contentionNotes);
  }

  /** How many looks may yet bring a notification. */
  int underWay() {
    return queueScan.underWay();
  }

  /** Notes to holders that this session has to remove if its ZooKeeper session goes on. */
  List<String> notes() {
    return contentionNotes.unread();
  }

  /** Lists the queue, and does for each of our attempts what follows from it. */
  void look(LockRequests requests) {
    queueScan.look(requests);
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

  Reply.Holder holder(NodeData.AttemptData attemptData, Stat stat) {
    return new Reply.Holder(
        attemptData.attempt(), core.tokenRank(stat.getCzxid()) << 16, attemptData.ttl());
  }

  /** The next look that begins answers this request. */
  void lookFor(LockRequests requests, PendingRequest pendingRequest) {
    requests.requester = pendingRequest;
    queueScan.look(requests);
  }

  void queued(
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
  void watch(
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
  void watchOwn(LockRequests requests, ZooKeeperAttempt zooKeeperAttempt, int holder, int behind) {
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
      queueScan.look(requests);
    }
  }

  /** What it watched has gone, and may have held: if it is the first by now, it holds. */
  private void succeed(LockRequests requests, ZooKeeperAttempt zooKeeperAttempt) {
    queueScan.begin(requests);
    QueueScan.QueueSnapshot queueSnapshot = new QueueScan.QueueSnapshot(null, false);
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
      QueueScan.QueueSnapshot queueSnapshot,
      ZooKeeperAttempt zooKeeperAttempt,
      @Nullable List<String> children,
      NodeContent own) {
    Stat stat = own.stat();
    if (children == null) {
      requests.lookAgain = true;
      queueScan.looked(requests);
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
      queueScan.looked(requests);
    } else {
      queueScan.listed(requests, queueSnapshot, Code.OK, children);
    }
  }

  /** Whom it watched has held and gone: it is the first, if it is still there. */
  private void confirm(LockRequests requests, ZooKeeperAttempt zooKeeperAttempt, String before) {
    queueScan.begin(requests);
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
                      queueScan.looked(requests);
                    }));
  }

  /** A request in flight gets an answer, all others a notification. */
  void announce(LockRequests requests, ZooKeeperAttempt zooKeeperAttempt) {
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
}
