package io.mortise.zookeeper;

import io.mortise.zookeeper.ZooKeeperAttempt.NodeState;
import io.mortise.zookeeper.internal.node.AttemptIndex;
import io.mortise.zookeeper.internal.node.EndedAttempts;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/**
 * Finds out what became of attempts whose creation or removal was on its way when a connection
 * broke. Reads all of a queue, which is rare. Guarded by the session.
 */
final class AttemptRecovery {
  private final SessionCore core;
  private final LockQueueManager queues;

  AttemptRecovery(SessionCore core, LockQueueManager queues) {
    this.core = core;
    this.queues = queues;
  }

  /** What was executed before is seen, for the server catches up with the leader first. */
  private void read(LockRequests requests, Consumer<@Nullable AttemptIndex> then) {
    AttemptIndex.read(
        core.connection().client(), requests.path, roll -> step(() -> then.accept(roll)));
  }

  private void step(Runnable step) {
    core.guard()
        .run(
            () -> {
              if (!core.isOver()) {
                step.run();
              }
            });
  }

  /** What became of what is in doubt about this lock. Requests about it wait. */
  void recover(LockRequests requests) {
    if (requests.recovering) {
      return;
    }
    requests.recovering = true;
    read(
        requests,
        found -> {
          requests.recovering = false;
          if (found != null) {
            for (ZooKeeperAttempt zooKeeperAttempt : queues.inDoubt(requests)) {
              resolve(requests, zooKeeperAttempt, found);
            }
          } else if (core.connection().isUp()) {
            // Another connection has come already, and found this one in flight.
            core.store().timer().in(20_000_000, () -> step(() -> recoverIfUp(requests)));
          }
          queues.advance(requests);
        });
  }

  private void recoverIfUp(LockRequests requests) {
    if (core.connection().isUp() && !queues.inDoubt(requests).isEmpty()) {
      recover(requests);
    }
  }

  private void resolve(
      LockRequests requests, ZooKeeperAttempt zooKeeperAttempt, AttemptIndex found) {
    Integer index = found.index().get(core.attempt(zooKeeperAttempt.number));
    if (index == null && zooKeeperAttempt.leaving) {
      queues.ended(
          zooKeeperAttempt,
          zooKeeperAttempt.wasHeld()
              ? EndedAttempts.AttemptEnd.HOLD_RELEASED
              : EndedAttempts.AttemptEnd.WAIT_RELEASED);
    } else if (index == null) {
      queues.discardUncreated(zooKeeperAttempt);
    } else {
      zooKeeperAttempt.seq = found.queue().place(index).seq();
      if (zooKeeperAttempt.leaving || found.capacity() != zooKeeperAttempt.capacity()) {
        remove(requests, zooKeeperAttempt);
      } else {
        zooKeeperAttempt.state(NodeState.WAITING);
        requests.watchesNothing(zooKeeperAttempt);
        queues.resumeWait(requests, zooKeeperAttempt);
      }
    }
  }

  private void remove(LockRequests requests, ZooKeeperAttempt zooKeeperAttempt) {
    zooKeeperAttempt.leaving = true;
    queues
        .nodeWriter()
        .delete(
            requests.node(zooKeeperAttempt),
            false,
            code -> {
              if (code == Code.OK || code == Code.NONODE) {
                queues.ended(
                    zooKeeperAttempt,
                    zooKeeperAttempt.wasHeld()
                        ? EndedAttempts.AttemptEnd.HOLD_RELEASED
                        : EndedAttempts.AttemptEnd.WAIT_RELEASED);
              } else {
                queues.doubt(zooKeeperAttempt);
              }
            });
  }
}
