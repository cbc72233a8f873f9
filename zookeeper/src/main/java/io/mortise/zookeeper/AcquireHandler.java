package io.mortise.zookeeper;

import io.mortise.StoreUnfitException;
import io.mortise.internal.storekit.Refusals;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.RefusalReason;
import io.mortise.spi.Request;
import io.mortise.zookeeper.LockRequests.PendingRequest;
import io.mortise.zookeeper.ZooKeeperAttempt.NodeState;
import io.mortise.zookeeper.internal.node.LockQueue;
import io.mortise.zookeeper.internal.node.MultiRead;
import io.mortise.zookeeper.internal.node.NodeData;
import io.mortise.zookeeper.internal.node.NodeLayout;
import java.util.List;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Requests to acquire, and to adjust what is held: a new attempt gets a node, and holds at once if
 * that is the only one. Guarded by the session.
 */
final class AcquireHandler {
  /** Tokens of one node: as many as 16 bits can tell apart. */
  static final int TOKENS = 1 << 16;

  private final SessionCore core;
  private final LockQueueManager queues;
  private final NodeWriter nodeWriter;
  private final PredecessorWatcher predecessorWatcher;
  private final PollBatcher pollBatcher;
  private final ReleaseHandler releaseHandler;
  private final SoleUserCache soleUserCache;

  AcquireHandler(
      SessionCore core,
      LockQueueManager queues,
      NodeWriter nodeWriter,
      PredecessorWatcher predecessorWatcher,
      PollBatcher pollBatcher,
      ReleaseHandler releaseHandler,
      SoleUserCache soleUserCache) {
    this.core = core;
    this.queues = queues;
    this.nodeWriter = nodeWriter;
    this.predecessorWatcher = predecessorWatcher;
    this.pollBatcher = pollBatcher;
    this.releaseHandler = releaseHandler;
    this.soleUserCache = soleUserCache;
  }

  void acquire(
      LockRequests requests,
      PendingRequest pendingRequest,
      Request.Acquire request,
      @Nullable ZooKeeperAttempt known) {
    if (!core.connection().isUp()) {
      queues.fail(pendingRequest, known != null, "the connection is down.");
    } else if (known != null && known.leaving) {
      queues.answer(pendingRequest, Refusals.ended(pendingRequest.attempt()));
    } else if (known != null) {
      requests.current = pendingRequest;
      known.queues |= request.queue();
      pollBatcher.poll(requests, pendingRequest, known);
    } else if (queues.hasEnded(pendingRequest.attempt(), request.name())) {
      queues.answer(pendingRequest, Refusals.ended(pendingRequest.attempt()));
    } else {
      ZooKeeperAttempt zooKeeperAttempt =
          new ZooKeeperAttempt(
              pendingRequest.attempt().number(), requests.name, request.mode(), request.tokens());
      zooKeeperAttempt.queues = request.queue();
      queues.add(zooKeeperAttempt);
      requests.current = pendingRequest;
      String data =
          NodeData.attempt(pendingRequest.attempt(), core.spec().ttl(), request.terms().label());
      ZooKeeperAttempt previous = before(requests, zooKeeperAttempt);
      if (previous == null) {
        boolean reads = !soleUserCache.expects(requests.path, zooKeeperAttempt);
        nodeWriter.create(
            requests.path,
            zooKeeperAttempt,
            data,
            reads,
            made -> created(requests, pendingRequest, zooKeeperAttempt, made));
      } else {
        // Also if it is found again later, by its node: that is as old as the tokens before.
        zooKeeperAttempt.startAt(previous.next());
        nodeWriter.follow(
            requests.path,
            zooKeeperAttempt,
            data,
            made -> followed(requests, pendingRequest, zooKeeperAttempt, previous, made));
      }
    }
  }

  /**
   * The hold that this attempt follows as if it had been passed on: nobody else is known to want
   * the lock, and its removal has not been sent yet.
   */
  private @Nullable ZooKeeperAttempt before(
      LockRequests requests, ZooKeeperAttempt zooKeeperAttempt) {
    ZooKeeperAttempt previous = nodeWriter.leaving(requests.path);
    return previous != null
            && !previous.isWanted()
            && requests.waiting.isEmpty()
            && zooKeeperAttempt.isExclusive()
            && zooKeeperAttempt.capacity() == previous.capacity()
            && previous.next() + zooKeeperAttempt.tokens <= TOKENS
        ? previous
        : null;
  }

  private void followed(
      LockRequests requests,
      PendingRequest pendingRequest,
      ZooKeeperAttempt zooKeeperAttempt,
      ZooKeeperAttempt previous,
      NodeOperation.CreateResult made) {
    if (made.children() != NodeOperation.CreateResult.FOLLOWED) {
      created(requests, pendingRequest, zooKeeperAttempt, made);
      return;
    }
    zooKeeperAttempt.seq = previous.seq;
    // A note may have come for the one before, meanwhile.
    queues.succeed(requests, zooKeeperAttempt, previous.rank(), previous.isWanted() ? 1 : 0);
    queues.answer(pendingRequest, queues.granted(zooKeeperAttempt));
    queues.finish(requests);
  }

  private void created(
      LockRequests requests,
      PendingRequest pendingRequest,
      ZooKeeperAttempt zooKeeperAttempt,
      NodeOperation.CreateResult made) {
    if (made.code() != Code.OK) {
      notCreated(requests, pendingRequest, zooKeeperAttempt, made.code());
      return;
    }
    zooKeeperAttempt.seq = LockQueue.QueueNode.parse(NodeLayout.last(made.path())).seq();
    soleUserCache.came(requests.path, zooKeeperAttempt);
    if (LockQueue.isLast(zooKeeperAttempt.seq)) {
      releaseHandler.withdraw(requests, zooKeeperAttempt, () -> renumber(requests, pendingRequest));
    } else if (made.children() == NodeOperation.CreateResult.NOT_READ) {
      next(requests, pendingRequest, zooKeeperAttempt, made);
    } else if (made.children() == 0) {
      // The node is there, and what else is there is not known.
      queues.doubt(zooKeeperAttempt);
      queues.fail(pendingRequest, true, "the connection was lost.");
      queues.finish(requests);
    } else if (made.capacity() != zooKeeperAttempt.capacity()) {
      releaseHandler.withdraw(
          requests,
          zooKeeperAttempt,
          () -> differs(requests, pendingRequest, zooKeeperAttempt.capacity(), made.capacity()));
    } else if (made.children() == 1) {
      queues.grant(requests, zooKeeperAttempt, made.czxid(), 0);
      queues.answer(pendingRequest, queues.granted(zooKeeperAttempt));
      queues.finish(requests);
    } else {
      zooKeeperAttempt.state(NodeState.WAITING);
      requests.waiting.put(zooKeeperAttempt.number, zooKeeperAttempt);
      predecessorWatcher.arrived(requests, pendingRequest, zooKeeperAttempt, made.children());
    }
  }

  /** A new node was expected to be the only one, and nothing else was read. */
  private void next(
      LockRequests requests,
      PendingRequest pendingRequest,
      ZooKeeperAttempt zooKeeperAttempt,
      NodeOperation.CreateResult made) {
    SoleUserCache.LastHold lastHold = soleUserCache.before(requests.path, zooKeeperAttempt);
    if (lastHold == null) {
      read(requests, pendingRequest, zooKeeperAttempt, made);
      return;
    }
    if (made.czxid() != 0) {
      queues.grant(requests, zooKeeperAttempt, made.czxid(), 0);
    } else {
      zooKeeperAttempt.startAt(lastHold.next());
      queues.succeed(requests, zooKeeperAttempt, lastHold.rank(), 0);
    }
    queues.answer(pendingRequest, queues.granted(zooKeeperAttempt));
    queues.finish(requests);
  }

  /** What a read in the same flush would have said. */
  private void read(
      LockRequests requests,
      PendingRequest pendingRequest,
      ZooKeeperAttempt zooKeeperAttempt,
      NodeOperation.CreateResult made) {
    MultiRead.nodes(
        core.connection().client(),
        List.of(requests.path, requests.node(zooKeeperAttempt)),
        nodeContents ->
            core.guard()
                .run(
                    () -> {
                      if (!core.isOver()) {
                        wasRead(
                            requests, pendingRequest, zooKeeperAttempt, made.path(), nodeContents);
                      }
                    }));
  }

  private void wasRead(
      LockRequests requests,
      PendingRequest pendingRequest,
      ZooKeeperAttempt zooKeeperAttempt,
      String path,
      @Nullable List<MultiRead.NodeContent> nodeContents) {
    Stat lockStat = nodeContents == null ? null : nodeContents.get(0).stat();
    if (nodeContents == null || lockStat == null) {
      created(
          requests,
          pendingRequest,
          zooKeeperAttempt,
          new NodeOperation.CreateResult(Code.OK, path, 0, 0, 0));
      return;
    }
    Stat own = nodeContents.get(1).stat();
    if (own == null || !core.isOurs(nodeContents.get(1), zooKeeperAttempt)) {
      queues.forget(requests, zooKeeperAttempt);
      queues.refuseAsRemoved(pendingRequest);
      queues.finish(requests);
    } else {
      int capacity = NodeData.capacity(nodeContents.get(0).data());
      created(
          requests,
          pendingRequest,
          zooKeeperAttempt,
          new NodeOperation.CreateResult(
              Code.OK, path, own.getCzxid(), capacity, lockStat.getNumChildren()));
    }
  }

  /**
   * The numbers of a queue come to an end. Nobody is let in any more; when those have gone who
   * were, its container can be removed, and numbers begin anew in the next one.
   */
  private void renumber(LockRequests requests, PendingRequest pendingRequest) {
    core.connection().client().delete(requests.path, -1, (rc, path, context) -> {}, null);
    queues.fail(
        pendingRequest,
        false,
        "the sequence numbers of lock '"
            + requests.name
            + "' begin anew as soon as those who hold it or wait have left.");
    queues.finish(requests);
  }

  private void notCreated(
      LockRequests requests,
      PendingRequest pendingRequest,
      ZooKeeperAttempt zooKeeperAttempt,
      Code code) {
    switch (code) {
      case CONNECTIONLOSS, OPERATIONTIMEOUT, SESSIONMOVED -> {
        queues.doubt(zooKeeperAttempt);
        queues.fail(pendingRequest, true, "the connection was lost.");
      }
      case SESSIONEXPIRED -> {
        core.over("the ZooKeeper session expired");
        return;
      }
      default -> {
        queues.discardUncreated(zooKeeperAttempt);
        queues.answer(
            pendingRequest,
            new Reply.Failed(
                pendingRequest.attempt(),
                false,
                new StoreUnfitException(
                    "Store '%s' does not let us make a node for lock '%s': %s."
                        .formatted(core.display(), requests.name, code))));
      }
    }
    queues.finish(requests);
  }

  private void differs(
      LockRequests requests, PendingRequest pendingRequest, int asked, int present) {
    queues.answer(
        pendingRequest,
        Refusals.capacityDiffers(pendingRequest.attempt(), requests.name, present, asked));
    queues.finish(requests);
  }

  void adjust(
      PendingRequest pendingRequest, Request.Adjust request, @Nullable ZooKeeperAttempt known) {
    AttemptId attempt = request.attempt();
    if (known == null || known.state() != NodeState.HELD || known.leaving) {
      queues.answer(pendingRequest, Refusals.notHeld(attempt, request.name()));
    } else if (known.capacity() != request.mode().capacity()) {
      queues.answer(
          pendingRequest,
          Refusals.capacityDiffers(
              attempt, request.name(), known.capacity(), request.mode().capacity()));
    } else if (request.mode().weight() > known.weight()) {
      queues.answer(pendingRequest, Refusals.cannotWiden(attempt, request.name()));
    } else if (request.tokens() > 0 && known.next() >= TOKENS) {
      queues.answer(
          pendingRequest,
          new Reply.Refused(
              attempt,
              RefusalReason.NOT_HELD,
              "The hold on lock '"
                  + request.name()
                  + "' has used up its tokens: acquire it anew."));
    } else {
      if (request.tokens() > 0) {
        int next = known.next();
        known.startAt(next);
        known.tokens = Math.min(request.tokens(), TOKENS - next);
      }
      queues.answer(pendingRequest, queues.granted(known));
    }
  }
}
