package io.mortise.zookeeper;

import io.mortise.zookeeper.Attempt.State;
import io.mortise.zookeeper.Turn.Job;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.apache.zookeeper.KeeperException.Code;

/** Requests to end an attempt, of this session or of another. Guarded by the session. */
final class Departures {
  private final SessionCore core;
  private final Turns turns;
  private final Lane lane;
  private final Regulars regulars;

  /** Removals on their way; they hold up nobody. */
  private final Set<Job> leaving = new LinkedHashSet<>();

  Departures(SessionCore core, Turns turns, Lane lane, Regulars regulars) {
    this.core = core;
    this.turns = turns;
    this.lane = lane;
    this.regulars = regulars;
  }

  /** An attempt of another session. */
  void foreign(Job job, Runnable then) {
    core.store()
        .observer()
        .end(job.request.name(), job.attempt())
        .whenComplete(
            (ended, failure) ->
                core.guard()
                    .run(
                        () -> {
                          if (failure == null) {
                            turns.answer(job, ended);
                          } else {
                            turns.fail(job, true, "the connection was lost.");
                          }
                          then.run();
                        }));
  }

  void abandon(Turn turn, Job job, Attempt attempt) {
    if (attempt.leaving) {
      turns.fail(job, true, "the end is on its way.");
      return;
    }
    attempt.leaving = true;
    if (attempt.state() == State.DOUBT) {
      turns.fail(job, true, "the connection is down.");
      return;
    }
    turn.leaves(attempt);
    leaving.add(job);
    boolean exclusive = attempt.wasHeld() && attempt.isExclusive();
    boolean wanted = exclusive && attempt.isWanted();
    // The next waiter knows that this one held, or lists a few nodes to see that it is the
    // first.
    boolean marked = exclusive && attempt.hasLongLine();
    Work.Ended then =
        (code, followed) -> {
          leaving.remove(job);
          left(turn, job, attempt, code, followed);
        };
    if (wanted) {
      lane.handOver(turn.node(attempt), marked, code -> then.accept(code, false));
    } else if (job.later && attempt.state() == State.HELD && attempt.isExclusive()) {
      lane.release(turn.path, turn.node(attempt), attempt, then);
    } else {
      lane.delete(turn.node(attempt), job.later, code -> then.accept(code, false));
    }
  }

  private void left(Turn turn, Job job, Attempt attempt, Code code, boolean followed) {
    switch (code) {
      case OK -> {
        turns.ended(attempt, attempt.wasHeld() ? Ends.End.HOLD_RELEASED : Ends.End.WAIT_RELEASED);
        if (!followed) {
          regulars.left(turn.path, attempt);
        }
      }
      case NONODE ->
          turns.ended(attempt, attempt.wasHeld() ? Ends.End.HOLD_GONE : Ends.End.WAIT_GONE);
      case SESSIONEXPIRED -> {
        core.over("the ZooKeeper session expired");
        return;
      }
      default -> {
        turns.doubt(attempt);
        turns.fail(job, true, "the connection was lost.");
        return;
      }
    }
    turns.absent(job);
  }

  /** Removes the node of an attempt that is not to wait, as if it had never been; then answers. */
  void withdraw(Turn turn, Attempt attempt, Runnable then) {
    turn.leaves(attempt);
    attempt.leaving = true;
    lane.delete(
        turn.node(attempt),
        false,
        code -> {
          if (code == Code.OK || code == Code.NONODE) {
            turns.neverWas(attempt);
          } else {
            turns.doubt(attempt);
          }
          then.run();
        });
  }

  /** Requests that are being executed, if nothing holds them up. */
  List<Job> unanswered() {
    return List.copyOf(leaving);
  }

  /** The session has ended. */
  void over() {
    leaving.clear();
  }
}
