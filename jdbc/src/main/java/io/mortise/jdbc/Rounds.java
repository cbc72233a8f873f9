package io.mortise.jdbc;

import io.mortise.LockName;
import io.mortise.jdbc.Database.Trouble;
import io.mortise.spi.Request;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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
  private final JointSteps joint;

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
    this.joint =
        new JointSteps(
            doing ->
                closed.getAsBoolean()
                    ? Failure.closed(database)
                    : unlessOut(() -> transactor.attempt(doing, new boolean[] {true})),
            answers);
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

  /**
   * Serves one of each lock, the first, and whoever takes what that one gives back.
   *
   * @param behind gets the others, which may depend on it
   */
  private void serveFirst(List<Work> works, List<Work> behind) {
    List<Turn> first = new ArrayList<>(works.size());
    Map<LockName, Turn> last = new HashMap<>();
    for (Work work : works) {
      if (aside.blocks(work)) {
        aside.add(work);
        continue;
      }
      Request request = work.request();
      Turn before = request == null ? null : last.get(request.name());
      if (before == null) {
        Turn turn = new Turn(work);
        first.add(turn);
        if (request != null) {
          last.put(request.name(), turn);
        }
      } else if (!before.takesIn(work)) {
        before.isFollowed = true;
        behind.add(work);
      }
    }
    first.removeIf(this::isStillLocked);
    joint.together(first);
    List<Work> left = new ArrayList<>();
    // Whoever gives back goes first, as others wait for that: a trip may take long, and each of
    // these may take several.
    for (Turn turn : first) {
      if (!turn.answered && turn.given != null) {
        left.add(turn.given);
      } else if (!turn.answered && turn.isRelease()) {
        left.add(turn.work);
      }
    }
    for (Turn turn : first) {
      if (!turn.answered && !turn.isRelease()) {
        left.add(turn.work);
      }
    }
    joint.contended(left);
    left.forEach(this::serve);
  }

  /** Looks once more at a row that was locked, before others travel with who wants it. */
  private boolean isStillLocked(Turn turn) {
    Work oldest = turn.given == null ? turn.work : turn.given;
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
    if (turn.given != null) {
      setAsideOrFail(turn.work, failure);
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
      work.mayHaveRun |= failure.mayHaveRun();
      aside.add(work);
    } else {
      answers.failed(work, failure);
    }
  }
}
