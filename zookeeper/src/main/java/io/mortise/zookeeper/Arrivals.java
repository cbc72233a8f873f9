package io.mortise.zookeeper;

import io.mortise.StoreUnfitException;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.Why;
import io.mortise.spi.Request;
import io.mortise.zookeeper.Attempt.State;
import io.mortise.zookeeper.Turn.Job;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/**
 * Requests to acquire, and to adjust what is held: a new attempt gets a node, and holds at once if
 * that is the only one. Guarded by the session.
 */
final class Arrivals {
  /** Tokens of one node: as many as 16 bits can tell apart. */
  private static final int TOKENS = 1 << 16;

  private final SessionCore core;
  private final Turns turns;
  private final Lane lane;
  private final Looks looks;
  private final Polls polls;
  private final Departures departures;

  Arrivals(
      SessionCore core, Turns turns, Lane lane, Looks looks, Polls polls, Departures departures) {
    this.core = core;
    this.turns = turns;
    this.lane = lane;
    this.looks = looks;
    this.polls = polls;
    this.departures = departures;
  }

  void acquire(Turn turn, Job job, Request.Acquire request, @Nullable Attempt known) {
    if (!core.handle().isUp()) {
      turns.fail(job, known != null, "the connection is down.");
    } else if (known != null && known.leaving) {
      turns.refuse(job, Why.ENDED, "The attempt is being ended.");
    } else if (known != null) {
      turn.current = job;
      known.queues |= request.queue();
      polls.poll(turn, job, known);
    } else if (turns.isSpent(job.attempt(), request.name())) {
      turns.refuse(job, Why.ENDED, "The attempt has ended.");
    } else {
      Attempt attempt =
          new Attempt(job.attempt().number(), turn.name, request.mode(), request.tokens());
      attempt.queues = request.queue();
      turns.add(attempt);
      turn.current = job;
      String data = NodeData.attempt(job.attempt(), core.spec().ttl(), request.terms().label());
      lane.create(turn.path, attempt, data, created -> created(turn, job, attempt, created));
    }
  }

  private void created(Turn turn, Job job, Attempt attempt, Work.Created made) {
    if (made.code() != Code.OK) {
      notCreated(turn, job, attempt, made.code());
      return;
    }
    attempt.seq = Line.Place.parse(Layout.last(made.path())).seq();
    if (Line.isLast(attempt.seq)) {
      departures.withdraw(turn, attempt, () -> renumber(turn, job));
    } else if (made.children() == 0) {
      // The node is there, and what else is there is not known.
      turns.doubt(attempt);
      turns.fail(job, true, "the connection was lost.");
      turns.finish(turn);
    } else if (made.capacity() != attempt.capacity()) {
      departures.withdraw(
          turn, attempt, () -> differs(turn, job, attempt.capacity(), made.capacity()));
    } else if (made.children() == 1) {
      turns.grant(turn, attempt, made.czxid(), false);
      turns.answer(job, turns.granted(attempt));
      turns.finish(turn);
    } else {
      attempt.state = State.WAITING;
      turn.waiting.put(attempt.number, attempt);
      looks.arrived(turn, job, attempt, made.children());
    }
  }

  /**
   * The numbers of a line come to an end. Nobody is let in any more; when those have gone who were,
   * its container can be removed, and numbers begin anew in the next one.
   */
  private void renumber(Turn turn, Job job) {
    core.handle().client().delete(turn.path, -1, (rc, path, context) -> {}, null);
    turns.fail(
        job,
        false,
        "the sequence numbers of lock '"
            + turn.name
            + "' begin anew as soon as those who hold it or wait have left.");
    turns.finish(turn);
  }

  private void notCreated(Turn turn, Job job, Attempt attempt, Code code) {
    switch (code) {
      case CONNECTIONLOSS, OPERATIONTIMEOUT, SESSIONMOVED -> {
        turns.doubt(attempt);
        turns.fail(job, true, "the connection was lost.");
      }
      case SESSIONEXPIRED -> {
        core.over("the ZooKeeper session expired");
        return;
      }
      default -> {
        turns.neverWas(attempt);
        turns.answer(
            job,
            new Reply.Failed(
                job.attempt(),
                false,
                new StoreUnfitException(
                    "Store '%s' does not let us make a node for lock '%s': %s."
                        .formatted(core.display(), turn.name, code))));
      }
    }
    turns.finish(turn);
  }

  private void differs(Turn turn, Job job, int asked, int present) {
    turns.refuse(
        job,
        Why.CAPACITY_DIFFERS,
        "Lock '%s' exists as %s, not as %s. Use it as that, or another name."
            .formatted(turn.name, kind(present), kind(asked)));
    turns.finish(turn);
  }

  private static String kind(int capacity) {
    return capacity == Mode.SHARERS ? "a lock" : "a semaphore of " + capacity + " permits";
  }

  void adjust(Job job, Request.Adjust request, @Nullable Attempt known) {
    if (known == null || known.state != State.HELD || known.leaving) {
      turns.refuse(job, Why.NOT_HELD, "The attempt does not hold lock '" + request.name() + "'.");
    } else if (known.capacity() != request.mode().capacity()) {
      turns.refuse(
          job,
          Why.CAPACITY_DIFFERS,
          "Lock '%s' exists as %s, not as %s."
              .formatted(request.name(), kind(known.capacity()), kind(request.mode().capacity())));
    } else if (request.mode().weight() > known.weight()) {
      turns.refuse(
          job, Why.UNSUPPORTED, "A hold on lock '" + request.name() + "' cannot be widened.");
    } else if (request.tokens() > 0 && known.offset + known.tokens >= TOKENS) {
      turns.refuse(
          job,
          Why.NOT_HELD,
          "The hold on lock '" + request.name() + "' has used up its tokens: acquire it anew.");
    } else {
      if (request.tokens() > 0) {
        known.offset += known.tokens;
        known.tokens = Math.min(request.tokens(), TOKENS - known.offset);
      }
      turns.answer(job, turns.granted(known));
    }
  }
}
