package io.mortise.zookeeper.internal.queue;

import io.mortise.StoreUnfitException;
import io.mortise.spi.Reply;
import io.mortise.zookeeper.internal.node.LockQueue;
import io.mortise.zookeeper.internal.node.MultiRead.NodeContent;
import io.mortise.zookeeper.internal.node.NodeData;
import io.mortise.zookeeper.internal.node.NodeLayout;
import io.mortise.zookeeper.internal.queue.QueueEffect.Arrival;
import io.mortise.zookeeper.internal.queue.QueueEffect.CreateNode;
import io.mortise.zookeeper.internal.queue.QueueEffect.EndSession;
import io.mortise.zookeeper.internal.queue.QueueEffect.ReadNodes;
import io.mortise.zookeeper.internal.queue.QueueEffect.ReadPurpose;
import io.mortise.zookeeper.internal.queue.QueueEffect.WithdrawalReason;
import io.mortise.zookeeper.internal.queue.ZooKeeperAttempt.NodeState;
import java.util.List;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Evaluates the creation of an attempt's node: the attempt holds at once if its node is the only
 * one, and else waits. Guarded by its session.
 */
final class NodePlacement {
  private final LockRequests requests;
  private final SoleUserCache soleUserCache;
  private final QueueScan queueScan;

  NodePlacement(LockRequests requests, SoleUserCache soleUserCache, QueueScan queueScan) {
    this.requests = requests;
    this.soleUserCache = soleUserCache;
    this.queueScan = queueScan;
  }

  /** The current request's attempt has got its node, or could not. */
  void created(CreateNode creation, CreateResult result) {
    PendingRequest request = creation.request();
    ZooKeeperAttempt attempt = creation.attempt();
    if (result instanceof CreateResult.NotMade refused) {
      notCreated(request, attempt, refused.code());
    } else if (result instanceof CreateResult.TakenOver takenOver) {
      ZooKeeperAttempt previous = takenOver.previous();
      attempt.seq = previous.seq;
      // A note may have come for the previous hold, meanwhile.
      requests.hold(attempt, previous.rank(), previous.isWanted() ? 1 : 0);
      requests.answerGranted(request, attempt);
      requests.finish();
    } else if (result instanceof CreateResult.NodeMade made) {
      attempt.seq = LockQueue.QueueNode.parse(NodeLayout.last(made.path())).seq();
      soleUserCache.came(requests.path, attempt);
      if (LockQueue.isLast(attempt.seq)) {
        requests.withdraw(request, attempt, new WithdrawalReason.NumbersUsedUp());
      } else {
        place(request, attempt, made);
      }
    }
  }

  private void place(PendingRequest request, ZooKeeperAttempt attempt, CreateResult.NodeMade made) {
    if (made instanceof CreateResult.ContainerNotRead unread) {
      followSoleUse(request, attempt, unread);
    } else if (made instanceof CreateResult.OnlyNode only) {
      if (only.capacity() != attempt.capacity()) {
        requests.withdraw(request, attempt, new WithdrawalReason.CapacityDiffers(only.capacity()));
      } else {
        requests.grant(attempt, only.czxid(), 0);
        requests.answerGranted(request, attempt);
        requests.finish();
      }
    } else if (made instanceof CreateResult.AmongOthers among) {
      if (among.capacity() != attempt.capacity()) {
        requests.withdraw(request, attempt, new WithdrawalReason.CapacityDiffers(among.capacity()));
      } else {
        attempt.state(NodeState.WAITING);
        requests.waiting.put(attempt.number, attempt);
        queueScan.arrive(new Arrival(request, attempt, among.children()));
      }
    } else {
      // The node exists, but the other nodes are unknown.
      attempt.state(NodeState.DOUBT);
      requests.fail(request, true, "the connection was lost.");
      requests.finish();
    }
  }

  /** The node holds if its number follows directly on this session's last hold. */
  private void followSoleUse(
      PendingRequest request, ZooKeeperAttempt attempt, CreateResult.ContainerNotRead unread) {
    SoleUserCache.LastHold lastHold = soleUserCache.before(requests.path, attempt);
    if (lastHold == null) {
      requests.effects.add(
          new ReadNodes(
              new ReadPurpose.Placing(request, attempt, unread.path()),
              List.of(requests.path, requests.node(attempt))));
      return;
    }
    if (unread.czxid().isPresent()) {
      requests.grant(attempt, unread.czxid().getAsLong(), 0);
    } else {
      attempt.startAt(lastHold.next());
      requests.hold(attempt, lastHold.rank(), 0);
    }
    requests.answerGranted(request, attempt);
    requests.finish();
  }

  void placingRead(ReadPurpose.Placing placing, @Nullable List<NodeContent> nodeContents) {
    PendingRequest request = placing.request();
    ZooKeeperAttempt attempt = placing.attempt();
    Stat container = nodeContents == null ? null : nodeContents.get(0).stat();
    if (nodeContents == null || container == null) {
      place(request, attempt, new CreateResult.ContainerUnknown(placing.path()));
      return;
    }
    Stat own = nodeContents.get(1).stat();
    if (own == null || !requests.isOurs(nodeContents.get(1), attempt)) {
      requests.forget(attempt);
      requests.refuseAsRemoved(request);
      requests.finish();
      return;
    }
    int capacity = NodeData.capacity(nodeContents.get(0).data());
    int children = container.getNumChildren();
    place(
        request,
        attempt,
        children == 1
            ? new CreateResult.OnlyNode(placing.path(), capacity, own.getCzxid())
            : new CreateResult.AmongOthers(placing.path(), capacity, children));
  }

  private void notCreated(PendingRequest request, ZooKeeperAttempt attempt, Code code) {
    switch (code) {
      case CONNECTIONLOSS, OPERATIONTIMEOUT, SESSIONMOVED -> {
        attempt.state(NodeState.DOUBT);
        requests.fail(request, true, "the connection was lost.");
        requests.finish();
      }
      case SESSIONEXPIRED -> requests.effects.add(new EndSession("the ZooKeeper session expired"));
      default -> {
        requests.attempts.discard(attempt);
        requests.answer(
            request,
            new Reply.Failed(
                request.attempt(),
                false,
                new StoreUnfitException(
                    "Store '%s' does not let us make a node for lock '%s': %s."
                        .formatted(requests.session.display(), requests.name, code))));
        requests.finish();
      }
    }
  }
}
