package io.mortise.jdbc;

import io.mortise.jdbc.Database.Trouble;
import io.mortise.spi.LockName;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * How a server is asked for what has gathered on a lane. The requests that one statement may answer
 * travel together (see {@link Rows#together}); every other one, and whom that statement left out,
 * gets a transaction of its own. One whose row somebody else has locked is set aside and tried
 * again later, and those of the same lock behind it, so that a slow row holds up nobody else.
 * Belongs to whoever has the lane's baton.
 */
final class Rounds {
  private final Database database;
  private final Transactor transactor;
  private final Answers answers;
  private final SetAside aside;
  private final BooleanSupplier closed;

  /** Why nobody of this round can connect. */
  private @Nullable Failure outage;

  /**
   * @param closed whether nothing is to be begun any more
   */
  Rounds(
      Database database,
      Transactor transactor,
      Answers answers,
      SetAside aside,
      BooleanSupplier closed) {
    this.database = database;
    this.transactor = transactor;
    this.answers = answers;
    this.aside = aside;
    this.closed = closed;
  }

  /** Answers all of them, or sets them aside. */
  void serve(List<Work> works) {
    boolean restedBefore = !aside.isEmpty();
    outage = null;
    List<Work> left = works;
    while (!left.isEmpty()) {
      List<Work> behind = new ArrayList<>();
      serveFirst(left, behind);
      left = behind;
    }
    aside.roundEnds(restedBefore);
  }

  /** Who cannot connect does not try for each: that may take as long as an answer may. */
  private @Nullable Failure unlessOut(Supplier<@Nullable Failure> attempt) {
    Failure known = outage;
    if (known != null) {
      return known;
    }
    Failure failure = attempt.get();
    if (failure != null
        && failure.trouble() == Trouble.BROKEN
        && !failure.mayHaveRun()
        && !transactor.isConnected()) {
      outage = failure;
    }
    return failure;
  }

  /** What is asked of one lock at a time. */
  private static final class Step {
    Work work;

    /** A release of the same lock that goes before it, in the same step if possible. */
    @Nullable Work given;

    final boolean hasFastPath;
    boolean answered;

    /** Something of the same lock waits behind it already: what comes next must not overtake. */
    boolean isFollowed;

    Step(Work work) {
      this.work = work;
      this.hasFastPath = work.hasFastPath();
    }

    /** Takes in what comes after it; false if the two cannot go together. */
    boolean takesIn(Work next) {
      if (given == null
          && !isFollowed
          && hasFastPath
          && work.request() instanceof Request.Abandon
          && next.request() instanceof Request.Acquire
          && next.hasFastPath()) {
        given = work;
        work = next;
        return true;
      }
      return false;
    }

    boolean isRelease() {
      return work.request() instanceof Request.Abandon;
    }

    Rows.Ask ask() {
      return new Rows.Ask(
          Objects.requireNonNull(work.request()),
          given == null ? null : Objects.requireNonNull(given.request()).attempt(),
          given == null && work.isNew());
    }
  }

  /**
   * Serves one of each lock, the first, and whoever takes what that one gives back.
   *
   * @param behind gets the others, which may depend on it
   */
  private void serveFirst(List<Work> works, List<Work> behind) {
    List<Step> first = new ArrayList<>(works.size());
    Map<LockName, Step> last = new HashMap<>();
    for (Work work : works) {
      Request request = work.request();
      Step before = request == null ? null : last.get(request.name());
      if (before == null) {
        Step step = new Step(work);
        first.add(step);
        if (request != null) {
          last.put(request.name(), step);
        }
      } else if (!before.takesIn(work)) {
        before.isFollowed = true;
        behind.add(work);
      }
    }
    first.removeIf(this::isStillLocked);
    together(first);
    first.removeIf(step -> step.answered);
    // Whoever gives back goes first, as others wait for that: a trip may take long, and each of
    // these may take several.
    for (Step step : first) {
      if (step.given != null) {
        serve(step.given);
      } else if (step.isRelease()) {
        serve(step.work);
      }
    }
    for (Step step : first) {
      if (!step.isRelease()) {
        serve(step.work);
      }
    }
  }

  /** Looks once more at a row that was locked, before others travel with who wants it. */
  private boolean isStillLocked(Step step) {
    Work oldest = step.given == null ? step.work : step.given;
    Request request = oldest.request();
    if (!oldest.wasSetAside || request == null || closed.getAsBoolean()) {
      return false;
    }
    Failure failure =
        unlessOut(
            () ->
                transactor.attempt(
                    link -> link.fast.ensureUnlocked(request.name()), new boolean[] {false}));
    if (failure == null || failure.trouble() != Trouble.BUSY) {
      return false;
    }
    setAsideOrFail(oldest, failure);
    if (step.given != null) {
      setAsideOrFail(step.work, failure);
    }
    return true;
  }

  private void serve(Work work) {
    if (aside.blocks(work)) {
      aside.add(work);
      return;
    }
    Failure failure =
        closed.getAsBoolean()
            ? Failure.closed(database)
            : unlessOut(() -> transactor.attempt(List.of(work)));
    if (failure == null) {
      answers.done(List.of(work));
    } else {
      setAsideOrFail(work, failure);
    }
  }

  private void setAsideOrFail(Work work, Failure failure) {
    if (failure.trouble() == Trouble.BUSY
        && !closed.getAsBoolean()
        && System.nanoTime() - work.since < database.patience().toNanos()) {
      aside.add(work);
    } else {
      answers.failed(work, failure);
    }
  }

  /** Answers by one statement whom it can. */
  private void together(List<Step> steps) {
    List<Step> asked = new ArrayList<>(steps.size());
    List<Rows.Ask> asks = new ArrayList<>(steps.size());
    for (Step step : steps) {
      if (step.hasFastPath) {
        asked.add(step);
        asks.add(step.ask());
      }
    }
    if (closed.getAsBoolean()
        || asked.isEmpty()
        || (asked.size() == 1 && asked.get(0).given == null)) {
      return;
    }
    List<@Nullable Reply> replies = new ArrayList<>();
    Failure failure =
        unlessOut(
            () ->
                transactor.attempt(
                    link -> replies.addAll(link.fast.together(asks)), new boolean[] {true}));
    List<Work> answered = new ArrayList<>();
    for (int i = 0; i < asked.size(); i++) {
      Step step = asked.get(i);
      Work given = step.given;
      if (failure != null) {
        step.answered = failure.mayHaveRun();
        if (step.answered && given != null) {
          answers.failed(given, failure);
        }
        if (step.answered) {
          answers.failed(step.work, failure);
        }
        continue;
      }
      Reply reply = replies.get(i);
      if (reply != null) {
        step.answered = true;
        if (given != null) {
          given.take(FastSteps.released(asks.get(i).releasing()));
          answered.add(given);
        }
        step.work.take(reply);
        answered.add(step.work);
      } else {
        step.work.leftOut();
        if (given != null) {
          given.leftOut();
        }
      }
    }
    answers.done(answered);
  }
}
