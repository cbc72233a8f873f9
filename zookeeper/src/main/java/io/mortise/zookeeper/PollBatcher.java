package io.mortise.zookeeper;

import io.mortise.spi.Reply;
import io.mortise.zookeeper.LockRequests.PendingRequest;
import io.mortise.zookeeper.MultiRead.NodeContent;
import io.mortise.zookeeper.ZooKeeperAttempt.NodeState;
import java.util.ArrayList;
import java.util.List;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Answers those who ask again about an attempt that has a node: in their turn, or, who waits in a
 * long line, aside, many by one read. Guarded by the session.
 */
final class PollBatcher {
  /** Up to so many are answered by one read. */
  private static final int MOST = 256;

  private final SessionCore core;
  private final LockQueueManager turns;
  private final PredecessorWatcher predecessorWatcher;

  PollBatcher(SessionCore core, LockQueueManager turns, PredecessorWatcher predecessorWatcher) {
    this.core = core;
    this.turns = turns;
    this.predecessorWatcher = predecessorWatcher;
  }

  /** The request of an attempt that has a node was sent again. */
  void poll(LockRequests turn, PendingRequest pendingRequest, ZooKeeperAttempt zooKeeperAttempt) {
    MultiRead.nodes(
        core.handle().client(),
        List.of(turn.path, turn.node(zooKeeperAttempt)),
        nodeContents ->
            core.guard().run(() -> polled(turn, pendingRequest, zooKeeperAttempt, nodeContents)));
  }

  private void polled(
      LockRequests turn,
      PendingRequest pendingRequest,
      ZooKeeperAttempt zooKeeperAttempt,
      @Nullable List<NodeContent> nodeContents) {
    if (core.isOver() || turn.current != pendingRequest) {
      return;
    }
    if (nodeContents == null) {
      turns.fail(pendingRequest, true, "the connection was lost.");
      turns.finish(turn);
      return;
    }
    Stat stat = nodeContents.get(0).stat();
    if (!core.isOurs(nodeContents.get(1), zooKeeperAttempt)) {
      turns.forget(turn, zooKeeperAttempt);
      turns.refuseAsRemoved(pendingRequest);
      turns.finish(turn);
    } else if (zooKeeperAttempt.state() == NodeState.HELD) {
      turns.answer(pendingRequest, turns.granted(zooKeeperAttempt));
      turns.finish(turn);
    } else if (waitsInALongLine(turn, zooKeeperAttempt, stat)) {
      turns.answer(pendingRequest, behind(zooKeeperAttempt, stat));
      turns.finish(turn);
    } else {
      predecessorWatcher.lookFor(turn, pendingRequest);
    }
  }

  /** The same of many attempts that wait, by one read, while the turn goes on. */
  void pollInBatch(LockRequests turn) {
    if (!turn.polled.isEmpty() || turn.polls.isEmpty()) {
      return;
    }
    List<PendingRequest> pendingRequests = new ArrayList<>();
    List<String> paths = new ArrayList<>();
    paths.add(turn.path);
    while (pendingRequests.size() < MOST && !turn.polls.isEmpty()) {
      PendingRequest pendingRequest = turn.polls.remove();
      ZooKeeperAttempt zooKeeperAttempt = turns.attempt(pendingRequest);
      if (zooKeeperAttempt == null) {
        // It has ended meanwhile, which is told in its turn.
        turns.again(turn, pendingRequest);
      } else {
        pendingRequests.add(pendingRequest);
        paths.add(turn.node(zooKeeperAttempt));
      }
    }
    turn.polled = pendingRequests;
    if (!pendingRequests.isEmpty()) {
      MultiRead.nodes(
          core.handle().client(),
          paths,
          nodeContents -> core.guard().run(() -> polledAside(turn, nodeContents)));
    }
  }

  private void polledAside(LockRequests turn, @Nullable List<NodeContent> nodeContents) {
    if (core.isOver()) {
      return;
    }
    List<PendingRequest> pendingRequests = turn.polled;
    turn.polled = List.of();
    for (int i = 0; i < pendingRequests.size(); i++) {
      PendingRequest pendingRequest = pendingRequests.get(i);
      ZooKeeperAttempt zooKeeperAttempt = turns.attempt(pendingRequest);
      if (nodeContents == null) {
        turns.fail(pendingRequest, true, "the connection was lost.");
      } else if (zooKeeperAttempt == null
          || !core.isOurs(nodeContents.get(i + 1), zooKeeperAttempt)) {
        // Something has happened to it: for a look of its own.
        turns.again(turn, pendingRequest);
      } else if (zooKeeperAttempt.state() == NodeState.HELD && !zooKeeperAttempt.leaving) {
        turns.answer(pendingRequest, turns.granted(zooKeeperAttempt));
      } else if (waitsInALongLine(turn, zooKeeperAttempt, nodeContents.get(0).stat())) {
        turns.answer(pendingRequest, behind(zooKeeperAttempt, nodeContents.get(0).stat()));
      } else {
        turns.again(turn, pendingRequest);
      }
    }
    pollInBatch(turn);
    turns.advance(turn);
  }

  /** It will be called, or the look that is under way, or follows that one, is about it. */
  private static boolean waitsInALongLine(
      LockRequests turn, ZooKeeperAttempt zooKeeperAttempt, @Nullable Stat line) {
    return zooKeeperAttempt.state() == NodeState.WAITING
        && !zooKeeperAttempt.leaving
        && (turn.watches(zooKeeperAttempt) || turn.looking)
        && line != null
        && line.getNumChildren() > PredecessorWatcher.SHORT;
  }

  private Reply.Queued behind(ZooKeeperAttempt zooKeeperAttempt, @Nullable Stat line) {
    int others = line == null ? 0 : line.getNumChildren() - 1;
    return new Reply.Queued(core.attempt(zooKeeperAttempt.number), others, null, core.retryAfter());
  }
}
