package io.mortise.zookeeper;

import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.zookeeper.LockRequests.PendingRequest;
import io.mortise.zookeeper.internal.node.LockQueue;
import io.mortise.zookeeper.internal.node.MultiRead;
import io.mortise.zookeeper.internal.node.MultiRead.NodeContent;
import io.mortise.zookeeper.internal.node.NodeData;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Lists the queue of a lock, and does for each attempt of this session what follows from it:
 * grants, watches by {@link PredecessorWatcher}, notes to holders, and the answer to who asked.
 * Guarded by the session.
 */
final class QueueScan {
  private static final int TOLD = 64;

  private final SessionCore core;
  private final LockQueueManager queues;
  private final PredecessorWatcher watcher;
  private final ContentionNotes contentionNotes;

  private int underWay;

  QueueScan(
      SessionCore core,
      LockQueueManager queues,
      PredecessorWatcher watcher,
      ContentionNotes contentionNotes) {
    this.core = core;
    this.queues = queues;
    this.watcher = watcher;
    this.contentionNotes = contentionNotes;
  }

  /** How many looks may yet bring a notification. */
  int underWay() {
    return underWay;
  }

  private ZooKeeper client() {
    return core.connection().client();
  }

  /** Lists the queue, and does for each of our attempts what follows from it. */
  void look(LockRequests requests) {
    if (requests.looking) {
      requests.lookAgain = true;
      return;
    }
    begin(requests);
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

  /** A look begins, which ends by {@link #looked}. */
  void begin(LockRequests requests) {
    requests.looking = true;
    underWay++;
  }

  /** One look, and what it found. */
  static final class QueueSnapshot {
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

  void listed(
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
            watcher.watchOwn(
                requests, zooKeeperAttempt, queue.place(before).seq(), queue.size() - 2);
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
    watcher.watch(
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
        watcher.announce(requests, zooKeeperAttempt);
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
          queueSnapshot.holder = watcher.holder(attemptData, stat);
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
      watcher.queued(
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

  void looked(LockRequests requests) {
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
