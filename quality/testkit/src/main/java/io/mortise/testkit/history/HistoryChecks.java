package io.mortise.testkit.history;

import io.mortise.admin.LockInfo;
import io.mortise.spi.AttemptId;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Judges histories of attempts: pure functions from a list of events to the violations that {@link
 * HoldChecks} find in it. An empty list means that the rule held.
 */
public final class HistoryChecks {
  private HistoryChecks() {}

  /** Exclusion, token order and, for histories of fair locks, first come first served. */
  public static List<Violation> all(List<AttemptEvent> events, boolean fair) {
    List<Violation> found = new ArrayList<>(exclusion(events));
    found.addAll(tokenOrder(events));
    if (fair) {
      found.addAll(fifo(events));
    }
    return found;
  }

  /**
   * Holders that exclude each other never believe at the same time: the weights of concurrent
   * beliefs never exceed the capacity. A belief runs from the return of the acquire until the
   * release is called, the loss is reported, the process dies, or the lease's validity ends.
   */
  public static List<Violation> exclusion(List<AttemptEvent> events) {
    List<Violation> found = new ArrayList<>();
    byLock(events).forEach((lock, attemptHistories) -> exclusion(lock, attemptHistories, found));
    return found;
  }

  private static void exclusion(
      String lock, Collection<AttemptHistory> attemptHistories, List<Violation> found) {
    HoldChecks.exclusion(
        attemptHistories.stream().flatMap(attempt -> attempt.belief.stream()).toList(),
        (hold, others) -> {
          List<CheckedHold<AttemptHistory>> believers = new ArrayList<>(others);
          believers.add(hold);
          found.add(
              new Violation(
                  "exclusion",
                  lock,
                  "At "
                      + hold.from()
                      + " ns "
                      + believers.size()
                      + " holders believe in "
                      + believers.stream().mapToLong(other -> other.mode().weight()).sum()
                      + " of "
                      + hold.mode().capacity()
                      + ": "
                      + believers.stream()
                          .map(b -> b.holder().id + " from " + b.from() + " to " + b.until())
                          .toList()
                      + ".",
                  believers.stream().map(believer -> believer.holder().id).toList()));
        });
  }

  /**
   * Tokens rise: a hold whose acquire began after another's had returned has the greater token, and
   * no two exclusive holds have the same. See {@link HoldChecks#tokens}.
   */
  public static List<Violation> tokenOrder(List<AttemptEvent> events) {
    List<Violation> found = new ArrayList<>();
    byLock(events).forEach((lock, attemptHistories) -> tokenOrder(lock, attemptHistories, found));
    return found;
  }

  private static void tokenOrder(
      String lock, Collection<AttemptHistory> attemptHistories, List<Violation> found) {
    HoldChecks.tokens(
        attemptHistories.stream()
            .filter(AttemptHistory::wasGranted)
            .map(AttemptHistory::hold)
            .toList(),
        (hold, first) ->
            found.add(
                new Violation(
                    "token order",
                    lock,
                    "Holds "
                        + first.holder().id
                        + " and "
                        + hold.holder().id
                        + " both have token "
                        + hold.token()
                        + ".",
                    List.of(first.holder().id, hold.holder().id))),
        (hold, before) ->
            found.add(
                new Violation(
                    "token order",
                    lock,
                    "Hold "
                        + hold.holder().id
                        + ", asked for at "
                        + hold.asked()
                        + " ns, has token "
                        + hold.token()
                        + ", but hold "
                        + before.holder().id
                        + ", granted before at "
                        + before.from()
                        + " ns, has "
                        + before.token()
                        + ".",
                    List.of(before.holder().id, hold.holder().id))));
  }

  /**
   * First come, first served: an attempt that the store had confirmed as queued before another one
   * began is granted before it. Attempts that were lost or whose process died are excused, and so
   * are those that gave up before the other was granted. Grants are compared by token if all have
   * one, else by time.
   */
  public static List<Violation> fifo(List<AttemptEvent> events) {
    List<Violation> found = new ArrayList<>();
    byLock(events).forEach((lock, attemptHistories) -> fifo(lock, attemptHistories, found));
    return found;
  }

  private static void fifo(
      String lock, Collection<AttemptHistory> attemptHistories, List<Violation> found) {
    HoldChecks.fifo(
        attemptHistories.stream().map(AttemptHistory::waiting).toList(),
        (wait, before) -> found.add(passed(lock, wait.waiter(), before.waiter())));
  }

  private static Violation passed(
      String lock, AttemptHistory attemptHistory, AttemptHistory before) {
    return new Violation(
        "first come, first served",
        lock,
        "Attempt "
            + attemptHistory.id
            + ", asked for at "
            + attemptHistory.asked
            + " ns, was granted before "
            + before.id
            + ", which was queued at "
            + before.queued
            + " ns.",
        List.of(before.id, attemptHistory.id));
  }

  /**
   * Nothing is left behind: after all processes have left (and, if some died, after their TTL and a
   * sweep) the store shows neither holders nor waiters.
   */
  public static List<Violation> leaks(Collection<LockInfo> locks) {
    List<Violation> found = new ArrayList<>();
    for (LockInfo lock : locks) {
      List<String> left =
          Stream.concat(lock.holders().stream(), lock.waiters().stream())
              .map(party -> AttemptId.parse(party.attempt()).toString())
              .toList();
      if (!left.isEmpty()) {
        found.add(
            new Violation(
                "leak",
                lock.name(),
                lock.holders().size()
                    + " holders and "
                    + lock.waiters().size()
                    + " waiters are left: "
                    + left
                    + ".",
                left));
      }
    }
    return found;
  }

  private static Map<String, List<AttemptHistory>> byLock(List<AttemptEvent> events) {
    Map<String, List<AttemptHistory>> locks = new LinkedHashMap<>();
    for (AttemptHistory attemptHistory : AttemptHistory.gather(events)) {
      locks.computeIfAbsent(attemptHistory.lock, lock -> new ArrayList<>()).add(attemptHistory);
    }
    return locks;
  }
}
