package io.mortise.zookeeper;

import io.mortise.spi.Reply;
import io.mortise.zookeeper.Attempt.State;
import io.mortise.zookeeper.Reads.Node;
import io.mortise.zookeeper.Turn.Job;
import java.util.ArrayList;
import java.util.List;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Answers those who ask again about an attempt that has a node: in their turn, or, who waits in a
 * long line, aside, many by one read. Guarded by the session.
 */
final class Polls {
  /** Up to so many are answered by one read. */
  private static final int MOST = 256;

  private final SessionCore core;
  private final Turns turns;
  private final Looks looks;

  Polls(SessionCore core, Turns turns, Looks looks) {
    this.core = core;
    this.turns = turns;
    this.looks = looks;
  }

  /** The request of an attempt that has a node was sent again. */
  void poll(Turn turn, Job job, Attempt attempt) {
    Reads.nodes(
        core.handle().client(),
        List.of(turn.path, turn.node(attempt)),
        nodes -> core.guard().run(() -> polled(turn, job, attempt, nodes)));
  }

  private void polled(Turn turn, Job job, Attempt attempt, @Nullable List<Node> nodes) {
    if (core.isOver() || turn.current != job) {
      return;
    }
    if (nodes == null) {
      turns.fail(job, true, "the connection was lost.");
      turns.finish(turn);
      return;
    }
    Stat stat = nodes.get(0).stat();
    if (!core.isOurs(nodes.get(1), attempt)) {
      turns.forget(turn, attempt);
      turns.answer(
          job,
          new Reply.Refused(
              job.attempt(), Reply.Why.ENDED, "Somebody removed the attempt's node."));
      turns.finish(turn);
    } else if (attempt.state() == State.HELD) {
      turns.answer(job, turns.granted(attempt));
      turns.finish(turn);
    } else if (waitsInALongLine(turn, attempt, stat)) {
      turns.answer(job, behind(attempt, stat));
      turns.finish(turn);
    } else {
      looks.lookFor(turn, job);
    }
  }

  /** The same of many attempts that wait, by one read, while the turn goes on. */
  void aside(Turn turn) {
    if (!turn.polled.isEmpty() || turn.polls.isEmpty()) {
      return;
    }
    List<Job> jobs = new ArrayList<>();
    List<String> paths = new ArrayList<>();
    paths.add(turn.path);
    while (jobs.size() < MOST && !turn.polls.isEmpty()) {
      Job job = turn.polls.remove();
      Attempt attempt = turns.attempt(job);
      if (attempt == null) {
        // It has ended meanwhile, which is told in its turn.
        turns.again(turn, job);
      } else {
        jobs.add(job);
        paths.add(turn.node(attempt));
      }
    }
    turn.polled = jobs;
    if (!jobs.isEmpty()) {
      Reads.nodes(
          core.handle().client(), paths, nodes -> core.guard().run(() -> polledAside(turn, nodes)));
    }
  }

  private void polledAside(Turn turn, @Nullable List<Node> nodes) {
    if (core.isOver()) {
      return;
    }
    List<Job> jobs = turn.polled;
    turn.polled = List.of();
    for (int i = 0; i < jobs.size(); i++) {
      Job job = jobs.get(i);
      Attempt attempt = turns.attempt(job);
      if (nodes == null) {
        turns.fail(job, true, "the connection was lost.");
      } else if (attempt == null || !core.isOurs(nodes.get(i + 1), attempt)) {
        // Something has happened to it: for a look of its own.
        turns.again(turn, job);
      } else if (attempt.state() == State.HELD && !attempt.leaving) {
        turns.answer(job, turns.granted(attempt));
      } else if (waitsInALongLine(turn, attempt, nodes.get(0).stat())) {
        turns.answer(job, behind(attempt, nodes.get(0).stat()));
      } else {
        turns.again(turn, job);
      }
    }
    aside(turn);
    turns.advance(turn);
  }

  /** It will be called, or the look that is under way, or follows that one, is about it. */
  private static boolean waitsInALongLine(Turn turn, Attempt attempt, @Nullable Stat line) {
    return attempt.state() == State.WAITING
        && !attempt.leaving
        && (turn.watches(attempt) || turn.looking)
        && line != null
        && line.getNumChildren() > Looks.SHORT;
  }

  private Reply.Queued behind(Attempt attempt, @Nullable Stat line) {
    int others = line == null ? 0 : line.getNumChildren() - 1;
    return new Reply.Queued(core.attempt(attempt.number), others, null, core.askAgain());
  }
}
