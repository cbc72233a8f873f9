package io.mortise.zookeeper;

import io.mortise.StoreUnfitException;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.Why;
import io.mortise.spi.Request;
import io.mortise.zookeeper.Attempt.State;
import io.mortise.zookeeper.Turn.Job;
import java.util.List;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Requests to acquire, and to adjust what is held: a new attempt gets a node, and holds at once if
 * that is the only one. Guarded by the session.
 */
final class Arrivals {
  /** Tokens of one node: as many as 16 bits can tell apart. */
  static final int TOKENS = 1 << 16;

  private final SessionCore core;
  private final Turns turns;
  private final Lane lane;
  private final Looks looks;
  private final Polls polls;
  private final Departures departures;
  private final Regulars regulars;

  Arrivals(
      SessionCore core,
      Turns turns,
      Lane lane,
      Looks looks,
      Polls polls,
      Departures departures,
      Regulars regulars) {
    this.core = core;
    this.turns = turns;
    this.lane = lane;
    this.looks = looks;
    this.polls = polls;
    this.departures = departures;
    this.regulars = regulars;
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
      Attempt last = before(turn, attempt);
      if (last == null) {
        boolean reads = !regulars.expects(turn.path, attempt);
        lane.create(turn.path, attempt, data, reads, made -> created(turn, job, attempt, made));
      } else {
        // Also if it is found again later, by its node: that is as old as the tokens before.
        attempt.startAt(last.next());
        lane.follow(turn.path, attempt, data, made -> followed(turn, job, attempt, last, made));
      }
    }
  }

  /**
   * The hold that this attempt follows as if it had been passed on: nobody else is known to want
   * the lock, and its removal has not been sent yet.
   */
  private @Nullable Attempt before(Turn turn, Attempt attempt) {
    Attempt last = lane.leaving(turn.path);
    return last != null
            && !last.isWanted()
            && turn.waiting.isEmpty()
            && attempt.isExclusive()
            && attempt.capacity() == last.capacity()
            && last.next() + attempt.tokens <= TOKENS
        ? last
        : null;
  }

  private void followed(Turn turn, Job job, Attempt attempt, Attempt last, Work.Created made) {
    if (made.children() != Work.Created.FOLLOWED) {
      created(turn, job, attempt, made);
      return;
    }
    attempt.seq = last.seq;
    // Word may have come for the one before, meanwhile.
    turns.succeed(turn, attempt, last.rank(), last.isWanted() ? 1 : 0);
    turns.answer(job, turns.granted(attempt));
    turns.finish(turn);
  }

  private void created(Turn turn, Job job, Attempt attempt, Work.Created made) {
    if (made.code() != Code.OK) {
      notCreated(turn, job, attempt, made.code());
      return;
    }
    attempt.seq = Line.Place.parse(Layout.last(made.path())).seq();
    regulars.came(turn.path, attempt);
    if (Line.isLast(attempt.seq)) {
      departures.withdraw(turn, attempt, () -> renumber(turn, job));
    } else if (made.children() == Work.Created.NOT_READ) {
      next(turn, job, attempt, made);
    } else if (made.children() == 0) {
      // The node is there, and what else is there is not known.
      turns.doubt(attempt);
      turns.fail(job, true, "the connection was lost.");
      turns.finish(turn);
    } else if (made.capacity() != attempt.capacity()) {
      departures.withdraw(
          turn, attempt, () -> differs(turn, job, attempt.capacity(), made.capacity()));
    } else if (made.children() == 1) {
      turns.grant(turn, attempt, made.czxid(), 0);
      turns.answer(job, turns.granted(attempt));
      turns.finish(turn);
    } else {
      attempt.state(State.WAITING);
      turn.waiting.put(attempt.number, attempt);
      looks.arrived(turn, job, attempt, made.children());
    }
  }

  /** A new node was expected to be the only one, and nothing else was read. */
  private void next(Turn turn, Job job, Attempt attempt, Work.Created made) {
    Regulars.Last last = regulars.before(turn.path, attempt);
    if (last == null) {
      read(turn, job, attempt, made);
      return;
    }
    if (made.czxid() != 0) {
      turns.grant(turn, attempt, made.czxid(), 0);
    } else {
      attempt.startAt(last.next());
      turns.succeed(turn, attempt, last.rank(), 0);
    }
    turns.answer(job, turns.granted(attempt));
    turns.finish(turn);
  }

  /** What a read in the same flush would have said. */
  private void read(Turn turn, Job job, Attempt attempt, Work.Created made) {
    Reads.nodes(
        core.handle().client(),
        List.of(turn.path, turn.node(attempt)),
        nodes ->
            core.guard()
                .run(
                    () -> {
                      if (!core.isOver()) {
                        wasRead(turn, job, attempt, made.path(), nodes);
                      }
                    }));
  }

  private void wasRead(
      Turn turn, Job job, Attempt attempt, String path, @Nullable List<Reads.Node> nodes) {
    Stat line = nodes == null ? null : nodes.get(0).stat();
    if (nodes == null || line == null) {
      created(turn, job, attempt, new Work.Created(Code.OK, path, 0, 0, 0));
      return;
    }
    Stat own = nodes.get(1).stat();
    if (own == null || !core.isOurs(nodes.get(1), attempt)) {
      turns.forget(turn, attempt);
      turns.refuse(job, Why.ENDED, "Somebody removed the attempt's node.");
      turns.finish(turn);
    } else {
      int capacity = NodeData.capacity(nodes.get(0).data());
      created(
          turn,
          job,
          attempt,
          new Work.Created(Code.OK, path, own.getCzxid(), capacity, line.getNumChildren()));
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
    if (known == null || known.state() != State.HELD || known.leaving) {
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
    } else if (request.tokens() > 0 && known.next() >= TOKENS) {
      turns.refuse(
          job,
          Why.NOT_HELD,
          "The hold on lock '" + request.name() + "' has used up its tokens: acquire it anew.");
    } else {
      if (request.tokens() > 0) {
        int next = known.next();
        known.startAt(next);
        known.tokens = Math.min(request.tokens(), TOKENS - next);
      }
      turns.answer(job, turns.granted(known));
    }
  }
}
