package io.mortise.zookeeper;

import io.mortise.zookeeper.LockRequests.PendingRequest;
import io.mortise.zookeeper.ZooKeeperAttempt.NodeState;
import io.mortise.zookeeper.internal.node.EndedAttempts;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.apache.zookeeper.KeeperException.Code;

/** Requests to end an attempt, of this session or of another. Guarded by the session. */
final class ReleaseHandler {
  private final SessionCore core;
  private final LockQueueManager queues;
  private final NodeWriter nodeWriter;
  private final SoleUserCache soleUserCache;

  /** Removals on their way; they hold up nobody. */
  private final Set<PendingRequest> leaving = new LinkedHashSet<>();

  ReleaseHandler(
      SessionCore core,
      LockQueueManager queues,
      NodeWriter nodeWriter,
      SoleUserCache soleUserCache) {
    this.core = core;
    this.queues = queues;
    this.nodeWriter = nodeWriter;
    this.soleUserCache = soleUserCache;
  }

  /** An attempt of another session. */
  void foreign(PendingRequest pendingRequest, Runnable then) {
    core.store()
        .inspector()
        .end(pendingRequest.request.name(), pendingRequest.attempt())
        .whenComplete(
            (ended, failure) ->
                core.guard()
                    .run(
                        () -> {
                          if (failure == null) {
                            queues.answer(pendingRequest, ended);
                          } else {
                            queues.fail(pendingRequest, true, "the connection was lost.");
                          }
                          then.run();
                        }));
  }

  void abandon(
      LockRequests requests, PendingRequest pendingRequest, ZooKeeperAttempt zooKeeperAttempt) {
    if (zooKeeperAttempt.leaving) {
      queues.fail(pendingRequest, true, "the end is on its way.");
      return;
    }
    zooKeeperAttempt.leaving = true;
    if (zooKeeperAttempt.state() == NodeState.DOUBT) {
      queues.fail(pendingRequest, true, "the connection is down.");
      return;
    }
    requests.leaves(zooKeeperAttempt);
    leaving.add(pendingRequest);
    boolean exclusive = zooKeeperAttempt.wasHeld() && zooKeeperAttempt.isExclusive();
    boolean wanted = exclusive && zooKeeperAttempt.isWanted();
    // The next waiter knows that this one held, or lists a few nodes to see that it is the
    // first.
    boolean marked = exclusive && zooKeeperAttempt.hasLongQueue();
    NodeOperation.ReleaseListener then =
        (code, followed) -> {
          leaving.remove(pendingRequest);
          left(requests, pendingRequest, zooKeeperAttempt, code, followed);
        };
    if (wanted) {
      nodeWriter.removeForHandoff(
          requests.node(zooKeeperAttempt), marked, code -> then.accept(code, false));
    } else if (pendingRequest.later
        && zooKeeperAttempt.state() == NodeState.HELD
        && zooKeeperAttempt.isExclusive()) {
      nodeWriter.release(requests.path, requests.node(zooKeeperAttempt), zooKeeperAttempt, then);
    } else {
      nodeWriter.delete(
          requests.node(zooKeeperAttempt), pendingRequest.later, code -> then.accept(code, false));
    }
  }

  private void left(
      LockRequests requests,
      PendingRequest pendingRequest,
      ZooKeeperAttempt zooKeeperAttempt,
      Code code,
      boolean followed) {
    switch (code) {
      case OK -> {
        queues.ended(
            zooKeeperAttempt,
            zooKeeperAttempt.wasHeld()
                ? EndedAttempts.AttemptEnd.HOLD_RELEASED
                : EndedAttempts.AttemptEnd.WAIT_RELEASED);
        if (!followed) {
          soleUserCache.left(requests.path, zooKeeperAttempt);
        }
      }
      case NONODE ->
          queues.ended(
              zooKeeperAttempt,
              zooKeeperAttempt.wasHeld()
                  ? EndedAttempts.AttemptEnd.HOLD_GONE
                  : EndedAttempts.AttemptEnd.WAIT_GONE);
      case SESSIONEXPIRED -> {
        core.over("the ZooKeeper session expired");
        return;
      }
      default -> {
        queues.doubt(zooKeeperAttempt);
        queues.fail(pendingRequest, true, "the connection was lost.");
        return;
      }
    }
    queues.absent(pendingRequest);
  }

  /** Removes the node of an attempt that is not to wait, as if it had never been; then answers. */
  void withdraw(LockRequests requests, ZooKeeperAttempt zooKeeperAttempt, Runnable then) {
    requests.leaves(zooKeeperAttempt);
    zooKeeperAttempt.leaving = true;
    nodeWriter.delete(
        requests.node(zooKeeperAttempt),
        false,
        code -> {
          if (code == Code.OK || code == Code.NONODE) {
            queues.discardUncreated(zooKeeperAttempt);
          } else {
            queues.doubt(zooKeeperAttempt);
          }
          then.run();
        });
  }

  /** Requests that are being executed, if nothing holds them up. */
  List<PendingRequest> unanswered() {
    return List.copyOf(leaving);
  }

  /** The session has ended. */
  void over() {
    leaving.clear();
  }
}
