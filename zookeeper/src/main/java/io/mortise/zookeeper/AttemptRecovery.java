package io.mortise.zookeeper;

import io.mortise.zookeeper.ZooKeeperAttempt.NodeState;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/**
 * Finds out what became of attempts whose creation or removal was on its way when a connection
 * broke. Reads all of a line, which is rare. Guarded by the session.
 */
final class AttemptRecovery {
  private final SessionCore core;
  private final LockQueueManager turns;

  AttemptRecovery(SessionCore core, LockQueueManager turns) {
    this.core = core;
    this.turns = turns;
  }

  /** What was executed before is seen, for the server catches up with the leader first. */
  private void read(LockRequests turn, Consumer<@Nullable AttemptIndex> then) {
    AttemptIndex.read(core.handle().client(), turn.path, roll -> step(() -> then.accept(roll)));
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
  void recover(LockRequests turn) {
    if (turn.recovering) {
      return;
    }
    turn.recovering = true;
    read(
        turn,
        found -> {
          turn.recovering = false;
          if (found != null) {
            for (ZooKeeperAttempt zooKeeperAttempt : turns.inDoubt(turn)) {
              resolve(turn, zooKeeperAttempt, found);
            }
          } else if (core.handle().isUp()) {
            // Another connection has come already, and found this one under way.
            core.store().timer().in(20_000_000, () -> step(() -> recoverIfUp(turn)));
          }
          turns.advance(turn);
        });
  }

  private void recoverIfUp(LockRequests turn) {
    if (core.handle().isUp() && !turns.inDoubt(turn).isEmpty()) {
      recover(turn);
    }
  }

  private void resolve(LockRequests turn, ZooKeeperAttempt zooKeeperAttempt, AttemptIndex found) {
    Integer index = found.index().get(core.attempt(zooKeeperAttempt.number));
    if (index == null && zooKeeperAttempt.leaving) {
      turns.ended(
          zooKeeperAttempt,
          zooKeeperAttempt.wasHeld()
              ? EndedAttempts.AttemptEnd.HOLD_RELEASED
              : EndedAttempts.AttemptEnd.WAIT_RELEASED);
    } else if (index == null) {
      turns.discardUncreated(zooKeeperAttempt);
    } else {
      zooKeeperAttempt.seq = found.line().place(index).seq();
      if (zooKeeperAttempt.leaving || found.capacity() != zooKeeperAttempt.capacity()) {
        remove(turn, zooKeeperAttempt);
      } else {
        zooKeeperAttempt.state(NodeState.WAITING);
        turn.watchesNothing(zooKeeperAttempt);
        turns.resumeWait(turn, zooKeeperAttempt);
      }
    }
  }

  private void remove(LockRequests turn, ZooKeeperAttempt zooKeeperAttempt) {
    zooKeeperAttempt.leaving = true;
    turns
        .lane()
        .delete(
            turn.node(zooKeeperAttempt),
            false,
            code -> {
              if (code == Code.OK || code == Code.NONODE) {
                turns.ended(
                    zooKeeperAttempt,
                    zooKeeperAttempt.wasHeld()
                        ? EndedAttempts.AttemptEnd.HOLD_RELEASED
                        : EndedAttempts.AttemptEnd.WAIT_RELEASED);
              } else {
                turns.doubt(zooKeeperAttempt);
              }
            });
  }
}
