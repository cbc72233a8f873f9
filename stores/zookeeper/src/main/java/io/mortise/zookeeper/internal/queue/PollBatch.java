package io.mortise.zookeeper.internal.queue;

import io.mortise.spi.Reply;
import io.mortise.zookeeper.internal.node.MultiRead.NodeContent;
import io.mortise.zookeeper.internal.queue.QueueEffect.ReadNodes;
import io.mortise.zookeeper.internal.queue.QueueEffect.ReadPurpose;
import io.mortise.zookeeper.internal.queue.ZooKeeperAttempt.NodeState;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Answers polls: requests of attempts that have a node already. In a long queue one read answers
 * many, while other requests go on. Guarded by its session.
 */
final class PollBatch {
  /** The most polls that one read answers. */
  private static final int MOST_POLLS = 256;

  private final LockRequests requests;
  private final QueueScan queueScan;

  /** Polls of waiting attempts in a long queue, for the next read of their nodes. */
  private final ArrayDeque<PendingRequest> polls = new ArrayDeque<>();

  /** The polls whose nodes are being read. */
  private List<PendingRequest> polled = List.of();

  PollBatch(LockRequests requests, QueueScan queueScan) {
    this.requests = requests;
    this.queueScan = queueScan;
  }

  /** Polls whose nodes are being read. */
  List<PendingRequest> sent() {
    return polled;
  }

  /** Polls that wait for the next read. */
  ArrayDeque<PendingRequest> unsent() {
    return polls;
  }

  void add(PendingRequest request) {
    polls.add(request);
    pollMany();
  }

  /** The request of an attempt with a node was sent again. */
  void polled(
      PendingRequest request, ZooKeeperAttempt attempt, @Nullable List<NodeContent> nodeContents) {
    if (requests.current != request) {
      return;
    }
    if (nodeContents == null) {
      requests.fail(request, true, "the connection was lost.");
      requests.finish();
      return;
    }
    Stat container = nodeContents.get(0).stat();
    if (!requests.isOurs(nodeContents.get(1), attempt)) {
      requests.forget(attempt);
      requests.refuseAsRemoved(request);
      requests.finish();
    } else if (attempt.state() == NodeState.HELD) {
      requests.answerGranted(request, attempt);
      requests.finish();
    } else if (waitsInLongQueue(attempt, container)) {
      requests.answer(request, queuedBehind(attempt, container));
      requests.finish();
    } else {
      queueScan.lookFor(request);
    }
  }

  /** The same for many waiting attempts, by one read, while other requests go on. */
  private void pollMany() {
    if (!polled.isEmpty() || polls.isEmpty()) {
      return;
    }
    List<PendingRequest> batch = new ArrayList<>();
    List<String> paths = new ArrayList<>();
    paths.add(requests.path);
    while (batch.size() < MOST_POLLS && !polls.isEmpty()) {
      PendingRequest request = polls.remove();
      ZooKeeperAttempt attempt = requests.attempts.find(request.attempt(), requests.name);
      if (attempt == null) {
        // The attempt has ended meanwhile, which is reported in its turn.
        pollInTurn(request);
      } else {
        batch.add(request);
        paths.add(requests.node(attempt));
      }
    }
    polled = batch;
    if (!batch.isEmpty()) {
      requests.effects.add(new ReadNodes(new ReadPurpose.PollingMany(), paths));
    }
  }

  void polledMany(@Nullable List<NodeContent> nodeContents) {
    List<PendingRequest> batch = polled;
    polled = List.of();
    for (int i = 0; i < batch.size(); i++) {
      PendingRequest request = batch.get(i);
      ZooKeeperAttempt attempt = requests.attempts.find(request.attempt(), requests.name);
      if (nodeContents == null) {
        requests.fail(request, true, "the connection was lost.");
      } else if (attempt == null || !requests.isOurs(nodeContents.get(i + 1), attempt)) {
        // The node has changed, which needs a read of its own.
        pollInTurn(request);
      } else if (attempt.state() == NodeState.HELD && !attempt.leaving) {
        requests.answerGranted(request, attempt);
      } else if (waitsInLongQueue(attempt, nodeContents.get(0).stat())) {
        requests.answer(request, queuedBehind(attempt, nodeContents.get(0).stat()));
      } else {
        pollInTurn(request);
      }
    }
    pollMany();
  }

  /** The poll has to be answered in its turn after all. */
  private void pollInTurn(PendingRequest request) {
    if (!request.isAnswered()) {
      requests.pending.add(request);
    }
  }

  /** Whether its watch will call the attempt, or a read about it is in flight. */
  private boolean waitsInLongQueue(ZooKeeperAttempt attempt, @Nullable Stat container) {
    return attempt.state() == NodeState.WAITING
        && !attempt.leaving
        && (requests.watches.watches(attempt) || queueScan.isLooking())
        && container != null
        && container.getNumChildren() > QueueScan.SHORT;
  }

  private Reply.Queued queuedBehind(ZooKeeperAttempt attempt, @Nullable Stat container) {
    // Without its own node and a holder's.
    int others = container == null ? 0 : Math.max(0, container.getNumChildren() - 2);
    return new Reply.Queued(requests.attempts.id(attempt), others, null, requests.retryAfter());
  }
}
