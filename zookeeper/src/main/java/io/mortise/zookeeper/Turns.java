package io.mortise.zookeeper;

import io.mortise.LockName;
import io.mortise.StoreUnavailableException;
import io.mortise.spi.AttemptId;
import io.mortise.spi.News;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.How;
import io.mortise.spi.Reply.Was;
import io.mortise.spi.Reply.Why;
import io.mortise.spi.Request;
import io.mortise.zookeeper.Attempt.State;
import io.mortise.zookeeper.Turn.Job;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.jspecify.annotations.Nullable;

/**
 * What a session does about locks: one request of a name after the other, each a creation ({@link
 * Arrivals}), a look at the line, or a removal ({@link Departures}). {@link Looks} finds out who
 * holds, {@link Polls} answers who asks again, {@link Recovery} finds out what became of what was
 * in doubt. Guarded by the session.
 */
final class Turns {
  private final SessionCore core;
  private final Lane lane;
  private final Regulars regulars;
  private final Looks looks;
  private final Polls polls;
  private final Arrivals arrivals;
  private final Departures departures;
  private final Recovery recovery;
  private final AttemptTable attempts = new AttemptTable();
  private final Ends ends = new Ends();
  private final Map<String, Turn> turns = new HashMap<>();

  Turns(SessionCore core, Lane lane) {
    this.core = core;
    this.lane = lane;
    this.regulars = new Regulars(core);
    this.looks = new Looks(core, this);
    this.polls = new Polls(core, this, looks);
    this.departures = new Departures(core, this, lane, regulars);
    this.arrivals = new Arrivals(core, this, lane, looks, polls, departures, regulars);
    this.recovery = new Recovery(core, this);
  }

  boolean isSettled() {
    return looks.underWay() == 0;
  }

  // ---- Requests ----

  void submit(Request request, boolean later, Consumer<Reply> sink) {
    Job job = new Job(request, later, sink);
    Reply refusal = core.store().profile().refusal(request).orElse(null);
    if (refusal != null) {
      answer(job, refusal);
    } else if (!core.isOpen()) {
      gone(job);
    } else {
      Turn turn = turn(request.name());
      if (request instanceof Request.Abandon && mayPass(turn, job)) {
        start(turn, job);
      } else if (request instanceof Request.Acquire && isPolledAside(turn, job)) {
        turn.polls.add(job);
        polls.aside(turn);
      } else {
        turn.jobs.add(job);
      }
      advance(turn);
    }
  }

  /**
   * Whether an end may go before what others of this session ask about the same lock: thousands of
   * them must not keep a holder from giving it back. Ending takes nothing from anybody.
   */
  private boolean mayPass(Turn turn, Job job) {
    Attempt known = isOurs(job.attempt()) ? attempts.get(job.attempt().number()) : null;
    return known != null
        && known.name.equals(turn.name)
        && (known.state() == State.HELD || known.state() == State.WAITING)
        && turn.isBusy()
        && !turn.concerns(job.attempt());
  }

  /**
   * Whether a request sent again may be answered by a read that many share: thousands of waiters of
   * one process would keep those from coming who have no node yet.
   */
  private boolean isPolledAside(Turn turn, Job job) {
    Attempt known = isOurs(job.attempt()) ? attempts.get(job.attempt().number()) : null;
    return known != null
        && known.name.equals(turn.name)
        && known.state() == State.WAITING
        && known.queues
        && !known.leaving
        && turn.waiting.size() > Looks.SHORT
        && core.handle().isUp();
  }

  private Turn turn(LockName name) {
    return turns.computeIfAbsent(core.layout().lock(name), path -> new Turn(name, path));
  }

  void answer(Job job, Reply reply) {
    job.answer(core.guard(), reply);
  }

  /** What was asked aside has to be answered in its turn after all. */
  void again(Turn turn, Job job) {
    if (!job.isAnswered()) {
      turn.jobs.add(job);
    }
  }

  void refuse(Job job, Why why, String message) {
    answer(job, new Reply.Refused(job.attempt(), why, message));
  }

  void fail(Job job, boolean mayHaveRun, String why) {
    StoreUnavailableException cause =
        new StoreUnavailableException(
            "ZooKeeper did not answer (store=" + core.display() + "): " + why);
    answer(job, new Reply.Failed(job.attempt(), mayHaveRun, cause));
  }

  /** The session is not, or no longer, alive. */
  private void gone(Job job) {
    if (job.request instanceof Request.Abandon) {
      if (isOurs(job.attempt())) {
        absent(job);
      } else {
        departures.foreign(job, () -> {});
      }
    } else {
      refuse(job, Why.SESSION_GONE, "The session of this attempt is not alive in the store.");
    }
  }

  void absent(Job job) {
    Ends.End end =
        isOurs(job.attempt()) ? ends.get(job.attempt().number(), job.request.name()) : null;
    answer(
        job,
        end == null
            ? new Reply.Ended(job.attempt(), Was.ABSENT, How.UNKNOWN, false)
            : new Reply.Ended(job.attempt(), end.was, end.how, false));
  }

  private boolean isOurs(AttemptId attempt) {
    return attempt.session().equals(core.id());
  }

  /** Begins what can be begun. */
  void advance(Turn turn) {
    while (turn.current == null && !turn.recovering && !turn.jobs.isEmpty()) {
      start(turn, turn.jobs.remove());
    }
    if (turn.isIdle()) {
      turns.remove(turn.path, turn);
    }
  }

  /** The current request is answered. */
  void finish(Turn turn) {
    turn.current = null;
    advance(turn);
  }

  private void start(Turn turn, Job job) {
    Attempt known = isOurs(job.attempt()) ? attempts.get(job.attempt().number()) : null;
    if (known != null && !known.name.equals(turn.name)) {
      known = null;
    }
    if (job.request instanceof Request.Adjust adjust) {
      arrivals.adjust(job, adjust, known);
    } else if (known != null && known.state() == State.DOUBT && core.handle().isUp()) {
      known.leaving |= job.request instanceof Request.Abandon;
      turn.jobs.addFirst(job);
      recovery.recover(turn);
    } else if (job.request instanceof Request.Acquire acquire) {
      arrivals.acquire(turn, job, acquire, known);
    } else if (known != null) {
      departures.abandon(turn, job, known);
    } else if (isOurs(job.attempt())) {
      absent(job);
    } else {
      turn.current = job;
      departures.foreign(job, () -> finish(turn));
    }
  }

  // ---- What becomes of attempts ----

  /** Whether an attempt of this session has ended, or its number was given to another one. */
  boolean isSpent(AttemptId attempt, LockName name) {
    return ends.get(attempt.number(), name) != null || attempts.get(attempt.number()) != null;
  }

  /** An attempt whose node is about to be made. */
  void add(Attempt attempt) {
    attempts.add(attempt);
  }

  @Nullable Attempt attempt(Job job) {
    return attempts.get(job.attempt().number());
  }

  /** What became of it is looked up once there is a connection. */
  void doubt(Attempt attempt) {
    attempt.state(State.DOUBT);
  }

  /** The attempt holds from now on; who hears of it is the caller's business. */
  void grant(Turn turn, Attempt attempt, long czxid, int waiters) {
    succeed(turn, attempt, core.tokenRank(czxid), waiters);
  }

  /** The same, with the tokens that go on behind those of the hold before. */
  void succeed(Turn turn, Attempt attempt, long rank, int waiters) {
    turn.leaves(attempt);
    attempt.granted(rank);
    if (waiters > Looks.SHORT) {
      attempt.wantedByMany();
    } else if (waiters > 0) {
      attempt.wanted();
    }
  }

  Reply.Granted granted(Attempt attempt) {
    return new Reply.Granted(
        core.attempt(attempt.number), attempt.token(), attempt.tokens, attempt.isWanted(), null);
  }

  /** As the queue's turn came: nobody asked just now. */
  void tellGranted(Attempt attempt) {
    core.tell(
        new News.Granted(
            attempt.name,
            core.attempt(attempt.number),
            attempt.token(),
            attempt.tokens,
            attempt.isWanted(),
            false));
  }

  /** Somebody else removed the node, and who asks just now is told. */
  void forget(Turn turn, Attempt attempt) {
    turn.leaves(attempt);
    ended(attempt, attempt.wasHeld() ? Ends.End.HOLD_GONE : Ends.End.WAIT_GONE);
  }

  /** Somebody else removed the node. */
  void vanished(Turn turn, Attempt attempt) {
    forget(turn, attempt);
    core.tell(new News.Gone(attempt.name, core.attempt(attempt.number), How.UNKNOWN));
  }

  /** Somebody who waits has left word for a holder. */
  void wanted(AttemptId id) {
    Attempt attempt = isOurs(id) ? attempts.get(id.number()) : null;
    if (attempt != null && !attempt.isWanted()) {
      attempt.wanted();
      if (attempt.state() == State.HELD && !attempt.leaving) {
        core.tell(new News.Wanted(attempt.name, id));
      }
    }
  }

  /** The node is gone, and that is remembered. */
  void ended(Attempt attempt, Ends.End end) {
    attempts.remove(attempt);
    ends.add(attempt.number, attempt.name, end);
    core.inbox().forget(core.attempt(attempt.number));
  }

  /** Its node was found again: whether it holds is looked up. */
  void standsAgain(Turn turn, Attempt attempt) {
    turn.waiting.put(attempt.number, attempt);
    looks.look(turn);
  }

  /** It has no node, and counts as never made. */
  void neverWas(Attempt attempt) {
    attempts.remove(attempt);
  }

  Departures departures() {
    return departures;
  }

  Lane lane() {
    return lane;
  }

  // ---- What the connection tells ----

  void changed(EventType type, String path) {
    regulars.changed(type, path);
    Turn whole = turns.get(path);
    if (whole != null) {
      if (type == EventType.NodeChildrenChanged) {
        whole.lineChanged();
        if (whole.watchesAll) {
          looks.look(whole);
        }
      }
      return;
    }
    Turn turn = turns.get(Layout.parent(path));
    if (turn != null) {
      looks.changed(turn, type, Line.Place.parse(Layout.last(path)).seq());
    }
  }

  /** What happens meanwhile is not told, or in another order. */
  void disconnected() {
    regulars.forget();
    turns.values().forEach(Turn::forgetNext);
  }

  /** What was in doubt is looked up, and what may have been missed. */
  void reconnected() {
    regulars.forget();
    for (Attempt attempt : attempts.all()) {
      if (attempt.state() == State.DOUBT) {
        recovery.recover(turn(attempt.name));
      }
    }
    for (Turn turn : List.copyOf(turns.values())) {
      if (!turn.waiting.isEmpty()) {
        looks.look(turn);
      }
    }
  }

  List<Attempt> inDoubt(Turn turn) {
    List<Attempt> found = new ArrayList<>();
    for (Attempt attempt : attempts.all()) {
      if (attempt.state() == State.DOUBT && attempt.name.equals(turn.name)) {
        found.add(attempt);
      }
    }
    return found;
  }

  /** Whoever has waited for too long is told that there was no answer. */
  void expire(long now, long patience) {
    for (Turn turn : List.copyOf(turns.values())) {
      Job current = turn.current;
      if (current != null && now - current.since > patience) {
        fail(current, true, "no answer in time.");
      }
      for (Job job : turn.polled) {
        if (now - job.since > patience) {
          fail(job, true, "no answer in time.");
        }
      }
      for (Queue<Job> unsent : List.of(turn.jobs, turn.polls)) {
        for (Job job : unsent) {
          if (now - job.since > patience) {
            fail(job, false, "no answer in time.");
          }
        }
        unsent.removeIf(Job::isAnswered);
      }
    }
    for (Job job : departures.unanswered()) {
      if (now - job.since > patience) {
        fail(job, true, "no answer in time.");
      }
    }
  }

  /** Attempts that may have a node of a number that is not known, by the path of their lock. */
  Map<String, Set<AttemptId>> doubtful() {
    Map<String, Set<AttemptId>> found = new HashMap<>();
    for (Attempt attempt : attempts.all()) {
      if (attempt.state() == State.SENT || attempt.state() == State.DOUBT) {
        found
            .computeIfAbsent(core.layout().lock(attempt.name), unused -> new LinkedHashSet<>())
            .add(core.attempt(attempt.number));
      }
    }
    return found;
  }

  /** The nodes of all others, and the notes that they have left. */
  List<String> nodes() {
    List<String> found = new ArrayList<>(looks.notes());
    for (Attempt attempt : attempts.all()) {
      if (attempt.state() == State.WAITING || attempt.state() == State.HELD) {
        found.add(core.layout().lock(attempt.name) + "/" + attempt.node());
      }
    }
    return found;
  }

  /** The session has ended, and with it all that hung on it. */
  void over() {
    for (Attempt attempt : attempts.all()) {
      if (attempt.wasHeld()) {
        ends.add(attempt.number, attempt.name, Ends.End.HOLD_TAKEN);
      }
      attempts.remove(attempt);
    }
    List<Job> open = new ArrayList<>(departures.unanswered());
    for (Turn turn : turns.values()) {
      if (turn.current != null) {
        open.add(turn.current);
      }
      open.addAll(turn.polled);
      open.addAll(turn.polls);
      open.addAll(turn.jobs);
    }
    departures.over();
    turns.clear();
    open.forEach(this::gone);
  }
}
