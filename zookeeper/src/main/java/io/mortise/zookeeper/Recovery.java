package io.mortise.zookeeper;

import io.mortise.zookeeper.Attempt.State;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/**
 * Finds out what became of attempts whose creation or removal was on its way when a connection
 * broke. Reads all of a line, which is rare. Guarded by the session.
 */
final class Recovery {
  private final SessionCore core;
  private final Turns turns;

  Recovery(SessionCore core, Turns turns) {
    this.core = core;
    this.turns = turns;
  }

  /** What was executed before is seen, for the server catches up with the leader first. */
  private void read(Turn turn, Consumer<@Nullable Roll> then) {
    Roll.read(core.handle().client(), turn.path, roll -> step(() -> then.accept(roll)));
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
  void recover(Turn turn) {
    if (turn.recovering) {
      return;
    }
    turn.recovering = true;
    read(
        turn,
        found -> {
          turn.recovering = false;
          if (found != null) {
            for (Attempt attempt : turns.inDoubt(turn)) {
              resolve(turn, attempt, found);
            }
          } else if (core.handle().isUp()) {
            // Another connection has come already, and found this one under way.
            core.store().timer().in(20_000_000, () -> step(() -> recoverIfUp(turn)));
          }
          turns.advance(turn);
        });
  }

  private void recoverIfUp(Turn turn) {
    if (core.handle().isUp() && !turns.inDoubt(turn).isEmpty()) {
      recover(turn);
    }
  }

  private void resolve(Turn turn, Attempt attempt, Roll found) {
    Integer index = found.index().get(core.attempt(attempt.number));
    if (index == null && attempt.leaving) {
      turns.ended(attempt, attempt.wasHeld() ? Ends.End.HOLD_RELEASED : Ends.End.WAIT_RELEASED);
    } else if (index == null) {
      turns.neverWas(attempt);
    } else {
      attempt.seq = found.line().place(index).seq();
      if (attempt.leaving || found.capacity() != attempt.capacity()) {
        remove(turn, attempt);
      } else {
        attempt.state(State.WAITING);
        turn.watchesNothing(attempt);
        turns.standsAgain(turn, attempt);
      }
    }
  }

  private void remove(Turn turn, Attempt attempt) {
    attempt.leaving = true;
    turns
        .lane()
        .delete(
            turn.node(attempt),
            false,
            code -> {
              if (code == Code.OK || code == Code.NONODE) {
                turns.ended(
                    attempt, attempt.wasHeld() ? Ends.End.HOLD_RELEASED : Ends.End.WAIT_RELEASED);
              } else {
                turns.doubt(attempt);
              }
            });
  }
}
