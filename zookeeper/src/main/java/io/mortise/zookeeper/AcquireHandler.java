package io.mortise.zookeeper;

import io.mortise.StoreUnfitException;
import io.mortise.internal.storekit.Refusals;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.RefusalReason;
import io.mortise.spi.Request;
import io.mortise.zookeeper.LockRequests.PendingRequest;
import io.mortise.zookeeper.ZooKeeperAttempt.NodeState;
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
  private final LockQueueManager turns;
  private final NodeWriter nodeWriter;
  private final PredecessorWatcher predecessorWatcher;
  private final PollBatcher polls;
  private final ReleaseHandler releaseHandler;
  private final SoleUserCache soleUserCache;

  AcquireHandler(
      SessionCore core,
      LockQueueManager turns,
      NodeWriter nodeWriter,
      PredecessorWatcher predecessorWatcher,
      PollBatcher polls,
      ReleaseHandler releaseHandler,
      SoleUserCache soleUserCache) {
    this.core = core;
    this.turns = turns;
    this.nodeWriter = nodeWriter;
    this.predecessorWatcher = predecessorWatcher;
    this.polls = polls;
    this.releaseHandler = releaseHandler;
    this.soleUserCache = soleUserCache;
  }

  void acquire(
      LockRequests turn,
      PendingRequest pendingRequest,
      Request.Acquire request,
      @Nullable ZooKeeperAttempt known) {
    if (!core.handle().isUp()) {
      turns.fail(pendingRequest, known != null, "the connection is down.");
    } else if (known != null && known.leaving) {
      turns.answer(pendingRequest, Refusals.ended(pendingRequest.attempt()));
    } else if (known != null) {
      turn.current = pendingRequest;
      known.queues |= request.queue();
      polls.poll(turn, pendingRequest, known);
    } else if (turns.hasEnded(pendingRequest.attempt(), request.name())) {
      turns.answer(pendingRequest, Refusals.ended(pendingRequest.attempt()));
    } else {
      ZooKeeperAttempt zooKeeperAttempt =
          new ZooKeeperAttempt(
              pendingRequest.attempt().number(), turn.name, request.mode(), request.tokens());
      zooKeeperAttempt.queues = request.queue();
      turns.add(zooKeeperAttempt);
      turn.current = pendingRequest;
      String data =
          NodeData.attempt(pendingRequest.attempt(), core.spec().ttl(), request.terms().label());
      ZooKeeperAttempt lastHold = before(turn, zooKeeperAttempt);
      if (lastHold == null) {
        boolean reads = !soleUserCache.expects(turn.path, zooKeeperAttempt);
        nodeWriter.create(
            turn.path,
            zooKeeperAttempt,
            data,
            reads,
            made -> created(turn, pendingRequest, zooKeeperAttempt, made));
      } else {
        // Also if it is found again later, by its node: that is as old as the tokens before.
        zooKeeperAttempt.startAt(lastHold.next());
        nodeWriter.follow(
            turn.path,
            zooKeeperAttempt,
            data,
            made -> followed(turn, pendingRequest, zooKeeperAttempt, lastHold, made));
      }
    }
  }

  /**
   * The hold that this attempt follows as if it had been passed on: nobody else is known to want
   * the lock, and its removal has not been sent yet.
   */
  private @Nullable ZooKeeperAttempt before(LockRequests turn, ZooKeeperAttempt zooKeeperAttempt) {
    ZooKeeperAttempt lastHold = nodeWriter.leaving(turn.path);
    return lastHold != null
            && !lastHold.isWanted()
            && turn.waiting.isEmpty()
            && zooKeeperAttempt.isExclusive()
            && zooKeeperAttempt.capacity() == lastHold.capacity()
            && lastHold.next() + zooKeeperAttempt.tokens <= TOKENS
        ? lastHold
        : null;
  }

  private void followed(
      LockRequests turn,
      PendingRequest pendingRequest,
      ZooKeeperAttempt zooKeeperAttempt,
      ZooKeeperAttempt lastHold,
      NodeOperation.CreateResult made) {
    if (made.children() != NodeOperation.CreateResult.FOLLOWED) {
      created(turn, pendingRequest, zooKeeperAttempt, made);
      return;
    }
    zooKeeperAttempt.seq = lastHold.seq;
    // Word may have come for the one before, meanwhile.
    turns.succeed(turn, zooKeeperAttempt, lastHold.rank(), lastHold.isWanted() ? 1 : 0);
    turns.answer(pendingRequest, turns.granted(zooKeeperAttempt));
    turns.finish(turn);
  }

  private void created(
      LockRequests turn,
      PendingRequest pendingRequest,
      ZooKeeperAttempt zooKeeperAttempt,
      NodeOperation.CreateResult made) {
    if (made.code() != Code.OK) {
      notCreated(turn, pendingRequest, zooKeeperAttempt, made.code());
      return;
    }
    zooKeeperAttempt.seq = LockQueue.QueueNode.parse(NodeLayout.last(made.path())).seq();
    soleUserCache.came(turn.path, zooKeeperAttempt);
    if (LockQueue.isLast(zooKeeperAttempt.seq)) {
      releaseHandler.withdraw(turn, zooKeeperAttempt, () -> renumber(turn, pendingRequest));
    } else if (made.children() == NodeOperation.CreateResult.NOT_READ) {
      next(turn, pendingRequest, zooKeeperAttempt, made);
    } else if (made.children() == 0) {
      // The node is there, and what else is there is not known.
      turns.doubt(zooKeeperAttempt);
      turns.fail(pendingRequest, true, "the connection was lost.");
      turns.finish(turn);
    } else if (made.capacity() != zooKeeperAttempt.capacity()) {
      releaseHandler.withdraw(
          turn,
          zooKeeperAttempt,
          () -> differs(turn, pendingRequest, zooKeeperAttempt.capacity(), made.capacity()));
    } else if (made.children() == 1) {
      turns.grant(turn, zooKeeperAttempt, made.czxid(), 0);
      turns.answer(pendingRequest, turns.granted(zooKeeperAttempt));
      turns.finish(turn);
    } else {
      zooKeeperAttempt.state(NodeState.WAITING);
      turn.waiting.put(zooKeeperAttempt.number, zooKeeperAttempt);
      predecessorWatcher.arrived(turn, pendingRequest, zooKeeperAttempt, made.children());
    }
  }

  /** A new node was expected to be the only one, and nothing else was read. */
  private void next(
      LockRequests turn,
      PendingRequest pendingRequest,
      ZooKeeperAttempt zooKeeperAttempt,
      NodeOperation.CreateResult made) {
    SoleUserCache.LastHold lastHold = soleUserCache.before(turn.path, zooKeeperAttempt);
    if (lastHold == null) {
      read(turn, pendingRequest, zooKeeperAttempt, made);
      return;
    }
    if (made.czxid() != 0) {
      turns.grant(turn, zooKeeperAttempt, made.czxid(), 0);
    } else {
      zooKeeperAttempt.startAt(lastHold.next());
      turns.succeed(turn, zooKeeperAttempt, lastHold.rank(), 0);
    }
    turns.answer(pendingRequest, turns.granted(zooKeeperAttempt));
    turns.finish(turn);
  }

  /** What a read in the same flush would have said. */
  private void read(
      LockRequests turn,
      PendingRequest pendingRequest,
      ZooKeeperAttempt zooKeeperAttempt,
      NodeOperation.CreateResult made) {
    MultiRead.nodes(
        core.handle().client(),
        List.of(turn.path, turn.node(zooKeeperAttempt)),
        nodeContents ->
            core.guard()
                .run(
                    () -> {
                      if (!core.isOver()) {
                        wasRead(turn, pendingRequest, zooKeeperAttempt, made.path(), nodeContents);
                      }
                    }));
  }

  private void wasRead(
      LockRequests turn,
      PendingRequest pendingRequest,
      ZooKeeperAttempt zooKeeperAttempt,
      String path,
      @Nullable List<MultiRead.NodeContent> nodeContents) {
    Stat line = nodeContents == null ? null : nodeContents.get(0).stat();
    if (nodeContents == null || line == null) {
      created(
          turn,
          pendingRequest,
          zooKeeperAttempt,
          new NodeOperation.CreateResult(Code.OK, path, 0, 0, 0));
      return;
    }
    Stat own = nodeContents.get(1).stat();
    if (own == null || !core.isOurs(nodeContents.get(1), zooKeeperAttempt)) {
      turns.forget(turn, zooKeeperAttempt);
      turns.refuseAsRemoved(pendingRequest);
      turns.finish(turn);
    } else {
      int capacity = NodeData.capacity(nodeContents.get(0).data());
      created(
          turn,
          pendingRequest,
          zooKeeperAttempt,
          new NodeOperation.CreateResult(
              Code.OK, path, own.getCzxid(), capacity, line.getNumChildren()));
    }
  }

  /**
   * The numbers of a line come to an end. Nobody is let in any more; when those have gone who were,
   * its container can be removed, and numbers begin anew in the next one.
   */
  private void renumber(LockRequests turn, PendingRequest pendingRequest) {
    core.handle().client().delete(turn.path, -1, (rc, path, context) -> {}, null);
    turns.fail(
        pendingRequest,
        false,
        "the sequence numbers of lock '"
            + turn.name
            + "' begin anew as soon as those who hold it or wait have left.");
    turns.finish(turn);
  }

  private void notCreated(
      LockRequests turn,
      PendingRequest pendingRequest,
      ZooKeeperAttempt zooKeeperAttempt,
      Code code) {
    switch (code) {
      case CONNECTIONLOSS, OPERATIONTIMEOUT, SESSIONMOVED -> {
        turns.doubt(zooKeeperAttempt);
        turns.fail(pendingRequest, true, "the connection was lost.");
      }
      case SESSIONEXPIRED -> {
        core.over("the ZooKeeper session expired");
        return;
      }
      default -> {
        turns.discardUncreated(zooKeeperAttempt);
        turns.answer(
            pendingRequest,
            new Reply.Failed(
                pendingRequest.attempt(),
                false,
                new StoreUnfitException(
                    "Store '%s' does not let us make a node for lock '%s': %s."
                        .formatted(core.display(), turn.name, code))));
      }
    }
    turns.finish(turn);
  }

  private void differs(LockRequests turn, PendingRequest pendingRequest, int asked, int present) {
    turns.answer(
        pendingRequest,
        Refusals.capacityDiffers(pendingRequest.attempt(), turn.name, present, asked));
    turns.finish(turn);
  }

  void adjust(
      PendingRequest pendingRequest, Request.Adjust request, @Nullable ZooKeeperAttempt known) {
    AttemptId attempt = request.attempt();
    if (known == null || known.state() != NodeState.HELD || known.leaving) {
      turns.answer(pendingRequest, Refusals.notHeld(attempt, request.name()));
    } else if (known.capacity() != request.mode().capacity()) {
      turns.answer(
          pendingRequest,
          Refusals.capacityDiffers(
              attempt, request.name(), known.capacity(), request.mode().capacity()));
    } else if (request.mode().weight() > known.weight()) {
      turns.answer(pendingRequest, Refusals.cannotWiden(attempt, request.name()));
    } else if (request.tokens() > 0 && known.next() >= TOKENS) {
      turns.answer(
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
      turns.answer(pendingRequest, turns.granted(known));
    }
  }
}
