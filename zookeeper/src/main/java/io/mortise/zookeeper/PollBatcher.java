package io.mortise.zookeeper;

import io.mortise.spi.Reply;
import io.mortise.zookeeper.LockRequests.PendingRequest;
import io.mortise.zookeeper.ZooKeeperAttempt.NodeState;
import io.mortise.zookeeper.internal.node.MultiRead;
import io.mortise.zookeeper.internal.node.MultiRead.NodeContent;
import java.util.ArrayList;
import java.util.List;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Answers those who ask again about an attempt that has a node: in their turn, or, who waits in a
 * long queue, aside, many by one read. Guarded by the session.
 */
final class PollBatcher {
  /** Up to so many are answered by one read. */
  private static final int MOST = 256;

  private final SessionCore core;
  private final LockQueueManager queues;
  private final PredecessorWatcher predecessorWatcher;

  PollBatcher(SessionCore core, LockQueueManager queues, PredecessorWatcher predecessorWatcher) {
    this.core = core;
    this.queues = queues;
    this.predecessorWatcher = predecessorWatcher;
  }

  /** The request of an attempt that has a node was sent again. */
  void poll(
      LockRequests requests, PendingRequest pendingRequest, ZooKeeperAttempt zooKeeperAttempt) {
    MultiRead.nodes(
        core.connection().client(),
        List.of(requests.path, requests.node(zooKeeperAttempt)),
        nodeContents ->
            core.guard()
                .run(() -> polled(requests, pendingRequest, zooKeeperAttempt, nodeContents)));
  }

  private void polled(
      LockRequests requests,
      PendingRequest pendingRequest,
      ZooKeeperAttempt zooKeeperAttempt,
      @Nullable List<NodeContent> nodeContents) {
    if (core.isOver() || requests.current != pendingRequest) {
      return;
    }
    if (nodeContents == null) {
      queues.fail(pendingRequest, true, "the connection was lost.");
      queues.finish(requests);
      return;
    }
    Stat stat = nodeContents.get(0).stat();
    if (!core.isOurs(nodeContents.get(1), zooKeeperAttempt)) {
      queues.forget(requests, zooKeeperAttempt);
      queues.refuseAsRemoved(pendingRequest);
      queues.finish(requests);
    } else if (zooKeeperAttempt.state() == NodeState.HELD) {
      queues.answer(pendingRequest, queues.granted(zooKeeperAttempt));
      queues.finish(requests);
    } else if (waitsInLongQueue(requests, zooKeeperAttempt, stat)) {
      queues.answer(pendingRequest, behind(zooKeeperAttempt, stat));
      queues.finish(requests);
    } else {
      predecessorWatcher.lookFor(requests, pendingRequest);
    }
  }

  /** The same of many attempts that wait, by one read, while the turn goes on. */
  void pollInBatch(LockRequests requests) {
    if (!requests.polled.isEmpty() || requests.polls.isEmpty()) {
      return;
    }
    List<PendingRequest> pendingRequests = new ArrayList<>();
    List<String> paths = new ArrayList<>();
    paths.add(requests.path);
    while (pendingRequests.size() < MOST && !requests.polls.isEmpty()) {
      PendingRequest pendingRequest = requests.polls.remove();
      ZooKeeperAttempt zooKeeperAttempt = queues.attempt(pendingRequest);
      if (zooKeeperAttempt == null) {
        // It has ended meanwhile, which is told in its turn.
        queues.again(requests, pendingRequest);
      } else {
        pendingRequests.add(pendingRequest);
        paths.add(requests.node(zooKeeperAttempt));
      }
    }
    requests.polled = pendingRequests;
    if (!pendingRequests.isEmpty()) {
      MultiRead.nodes(
          core.connection().client(),
          paths,
          nodeContents -> core.guard().run(() -> polledAside(requests, nodeContents)));
    }
  }

  private void polledAside(LockRequests requests, @Nullable List<NodeContent> nodeContents) {
    if (core.isOver()) {
      return;
    }
    List<PendingRequest> pendingRequests = requests.polled;
    requests.polled = List.of();
    for (int i = 0; i < pendingRequests.size(); i++) {
      PendingRequest pendingRequest = pendingRequests.get(i);
      ZooKeeperAttempt zooKeeperAttempt = queues.attempt(pendingRequest);
      if (nodeContents == null) {
        queues.fail(pendingRequest, true, "the connection was lost.");
      } else if (zooKeeperAttempt == null
          || !core.isOurs(nodeContents.get(i + 1), zooKeeperAttempt)) {
        // Something has happened to it: for a look of its own.
        queues.again(requests, pendingRequest);
      } else if (zooKeeperAttempt.state() == NodeState.HELD && !zooKeeperAttempt.leaving) {
        queues.answer(pendingRequest, queues.granted(zooKeeperAttempt));
      } else if (waitsInLongQueue(requests, zooKeeperAttempt, nodeContents.get(0).stat())) {
        queues.answer(pendingRequest, behind(zooKeeperAttempt, nodeContents.get(0).stat()));
      } else {
        queues.again(requests, pendingRequest);
      }
    }
    pollInBatch(requests);
    queues.advance(requests);
  }

  /** It will be called, or the look that is in flight, or follows that one, is about it. */
  private static boolean waitsInLongQueue(
      LockRequests requests, ZooKeeperAttempt zooKeeperAttempt, @Nullable Stat lockStat) {
    return zooKeeperAttempt.state() == NodeState.WAITING
        && !zooKeeperAttempt.leaving
        && (requests.watches(zooKeeperAttempt) || requests.looking)
        && lockStat != null
        && lockStat.getNumChildren() > PredecessorWatcher.SHORT;
  }

  private Reply.Queued behind(ZooKeeperAttempt zooKeeperAttempt, @Nullable Stat lockStat) {
    int others = lockStat == null ? 0 : lockStat.getNumChildren() - 1;
    return new Reply.Queued(core.attempt(zooKeeperAttempt.number), others, null, core.retryAfter());
  }
}
