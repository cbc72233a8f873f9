package io.mortise.jdbc;

import io.mortise.jdbc.Database.Trouble;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Requests of different locks that travel together. Where a try fails, each of them can be served
 * alone; if some of it may have been committed, they remember that nobody knows. Belongs to whoever
 * has the lane's baton.
 */
final class JointSteps {
  /** Steps on contended locks in one text. */
  private static final int AT_ONCE = 16;

  private final Transport transport;
  private final Answers answers;

  JointSteps(Transport transport, Answers answers) {
    this.transport = transport;
    this.answers = answers;
  }

  /** Does something once on the lane's connection. */
  @FunctionalInterface
  interface Transport {
    /** Returns null if it was done. */
    @Nullable Failure attempt(Transactor.Doing doing);
  }

  /** Answers by one statement, or one flush, whom it can. */
  void together(List<Turn> turns) {
    List<Turn> asked = new ArrayList<>(turns.size());
    List<Rows.Ask> asks = new ArrayList<>(turns.size());
    for (Turn turn : turns) {
      if (turn.hasFastPath) {
        asked.add(turn);
        asks.add(turn.ask());
      }
    }
    if (asked.isEmpty() || (asked.size() == 1 && asked.get(0).given == null)) {
      return;
    }
    List<@Nullable Reply> replies = new ArrayList<>();
    Failed failed = attempt(fast -> replies.addAll(fast.together(asks)));
    List<Work> answered = new ArrayList<>();
    for (int i = 0; i < asked.size(); i++) {
      Turn turn = asked.get(i);
      Work given = turn.given;
      if (failed != null) {
        turn.answered = failed.isOver(turn.work);
        if (given != null) {
          failed.isOver(given);
        }
        continue;
      }
      Reply reply = replies.get(i);
      turn.answered = reply != null;
      if (given != null) {
        answered.addAll(
            taken(given, reply == null ? null : FastSteps.released(asks.get(i).releasing())));
      }
      answered.addAll(taken(turn.work, reply));
    }
    answers.done(answered);
  }

  private static List<Work> taken(Work work, @Nullable Reply reply) {
    if (reply == null) {
      work.leftOut();
      return List.of();
    }
    work.take(reply);
    return List.of(work);
  }

  /**
   * Answers by few texts whom it can, of those that are known to be in somebody's way.
   *
   * @param left loses those that need no more
   */
  void contended(List<Work> left) {
    if (left.size() < 2) {
      return;
    }
    List<Work> asked = left.stream().filter(Work::isContended).toList();
    for (int from = 0; asked.size() - from > 1; from += AT_ONCE) {
      left.removeAll(contendedAtOnce(asked.subList(from, Math.min(from + AT_ONCE, asked.size()))));
    }
  }

  private Set<Work> contendedAtOnce(List<Work> asked) {
    List<Request> requests =
        asked.stream().map(work -> Objects.requireNonNull(work.request())).toList();
    List<ContendedStep> steps = new ArrayList<>();
    Failed failed =
        attempt(
            fast -> {
              if (fast.hasContended()) {
                steps.addAll(fast.contended(requests));
              }
            });
    Set<Work> over = new HashSet<>();
    if (failed != null) {
      asked.stream().filter(failed::isOver).forEach(over::add);
      return over;
    }
    List<Work> answered = new ArrayList<>();
    for (int i = 0; i < steps.size(); i++) {
      asked.get(i).take(steps.get(i));
      if (steps.get(i).isDone()) {
        answered.add(asked.get(i));
      }
    }
    answers.done(answered);
    over.addAll(answered);
    return over;
  }

  private interface Doing {
    void on(FastSteps fast) throws SQLException;
  }

  private @Nullable Failed attempt(Doing doing) {
    boolean[] partly = {false};
    Failure failure =
        transport.attempt(
            link -> {
              try {
                doing.on(link.fast);
              } catch (SQLException e) {
                partly[0] = link.fast.mayBePartlyDone();
                throw e;
              }
            });
    return failure == null ? null : new Failed(failure, partly[0]);
  }

  /** What became of requests that travelled together in vain. */
  private final class Failed {
    private final Failure failure;
    private final boolean partly;

    Failed(Failure failure, boolean partly) {
      this.failure = failure;
      this.partly = partly;
    }

    /**
     * Whether one of them needs no more, since it is told that nobody knows. One that only has to
     * wait for a connection is tried again.
     */
    boolean isOver(Work work) {
      work.mayHaveRun |= partly || failure.mayHaveRun();
      boolean over = failure.mayHaveRun() && failure.trouble() != Trouble.BUSY;
      if (over) {
        answers.failed(work, failure);
      }
      return over;
    }
  }
}
