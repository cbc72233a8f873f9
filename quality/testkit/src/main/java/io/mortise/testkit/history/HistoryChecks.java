package io.mortise.testkit.history;

import io.mortise.admin.LockInfo;
import io.mortise.spi.AttemptId;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Judges histories: pure functions from a list of events to the violations found in it, each in O(n
 * log n). An empty list means that the rule held.
 *
 * <p>A general search for a linearisation is not needed: fencing tokens give the order of the
 * holds.
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
    record Edge(long nanos, boolean begins, AttemptHistory.Span span) {}
    List<Edge> edges = new ArrayList<>();
    for (AttemptHistory attemptHistory : attemptHistories) {
      for (AttemptHistory.Span span : attemptHistory.belief) {
        edges.add(new Edge(span.from(), true, span));
        edges.add(new Edge(span.to(), false, span));
      }
    }
    // An end comes before a beginning of the same instant: beliefs are half-open.
    edges.sort(Comparator.comparingLong(Edge::nanos).thenComparing(Edge::begins));
    Map<String, AttemptHistory.Span> believers = new LinkedHashMap<>();
    long weight = 0;
    for (Edge edge : edges) {
      AttemptHistory.Span span = edge.span();
      if (!edge.begins()) {
        believers.remove(span.attempt().id);
        weight -= span.weight();
        continue;
      }
      believers.put(span.attempt().id, span);
      weight += span.weight();
      if (weight > span.attempt().mode.capacity()) {
        found.add(
            new Violation(
                "exclusion",
                lock,
                "At "
                    + edge.nanos()
                    + " ns "
                    + believers.size()
                    + " holders believe in "
                    + weight
                    + " of "
                    + span.attempt().mode.capacity()
                    + ": "
                    + believers.values().stream()
                        .map(b -> b.attempt().id + " from " + b.from() + " to " + b.to())
                        .toList()
                    + ".",
                List.copyOf(believers.keySet())));
      }
    }
  }

  /**
   * Tokens rise: a hold whose acquire began after another's had returned has the greater token, and
   * no two exclusive holds have the same. Shared and permit holders overlap, and those of one
   * process may share a grant: their tokens are compared with those of exclusive holds only. Holds
   * with token 0 are left out.
   */
  public static List<Violation> tokenOrder(List<AttemptEvent> events) {
    List<Violation> found = new ArrayList<>();
    byLock(events).forEach((lock, attemptHistories) -> tokenOrder(lock, attemptHistories, found));
    return found;
  }

  private static void tokenOrder(
      String lock, Collection<AttemptHistory> attemptHistories, List<Violation> found) {
    List<AttemptHistory> byAsked =
        attemptHistories.stream()
            .filter(attemptHistory -> attemptHistory.wasGranted() && attemptHistory.token != 0)
            .sorted(Comparator.comparingLong(attemptHistory -> attemptHistory.asked))
            .toList();
    List<AttemptHistory> byGranted =
        byAsked.stream()
            .sorted(Comparator.comparingLong(attemptHistory -> attemptHistory.granted))
            .toList();
    Map<Long, AttemptHistory> exclusive = new HashMap<>();
    AttemptHistory greatest = null;
    AttemptHistory greatestExclusive = null;
    int done = 0;
    for (AttemptHistory attemptHistory : byAsked) {
      while (done < byGranted.size() && byGranted.get(done).granted < attemptHistory.asked) {
        AttemptHistory earlier = byGranted.get(done++);
        greatest = greatest == null || greatest.token < earlier.token ? earlier : greatest;
        if (earlier.exclusive
            && (greatestExclusive == null || greatestExclusive.token < earlier.token)) {
          greatestExclusive = earlier;
        }
      }
      AttemptHistory before = attemptHistory.exclusive ? greatest : greatestExclusive;
      if (before != null && before.token >= attemptHistory.token) {
        found.add(
            new Violation(
                "token order",
                lock,
                "Hold "
                    + attemptHistory.id
                    + ", asked for at "
                    + attemptHistory.asked
                    + " ns, has token "
                    + attemptHistory.token
                    + ", but hold "
                    + before.id
                    + ", granted before at "
                    + before.granted
                    + " ns, has "
                    + before.token
                    + ".",
                List.of(before.id, attemptHistory.id)));
      }
      AttemptHistory same =
          attemptHistory.exclusive ? exclusive.put(attemptHistory.token, attemptHistory) : null;
      if (same != null) {
        found.add(
            new Violation(
                "token order",
                lock,
                "Holds "
                    + same.id
                    + " and "
                    + attemptHistory.id
                    + " both have token "
                    + attemptHistory.token
                    + ".",
                List.of(same.id, attemptHistory.id)));
      }
    }
  }

  /**
   * First come, first served: an attempt that the store had confirmed as queued before another one
   * began is granted before it. Attempts that were lost or whose process died are excused, and so
   * are those that gave up before the other was granted. Grants are compared by token where both
   * have one, else by time.
   */
  public static List<Violation> fifo(List<AttemptEvent> events) {
    List<Violation> found = new ArrayList<>();
    byLock(events).forEach((lock, attemptHistories) -> fifo(lock, attemptHistories, found));
    return found;
  }

  private static void fifo(
      String lock, Collection<AttemptHistory> attemptHistories, List<Violation> found) {
    List<AttemptHistory> granted =
        attemptHistories.stream()
            .filter(AttemptHistory::wasGranted)
            .sorted(Comparator.comparingLong(attemptHistory -> attemptHistory.asked))
            .toList();
    List<AttemptHistory> queued =
        attemptHistories.stream()
            .filter(attemptHistory -> attemptHistory.queued != AttemptHistory.NEVER)
            .filter(attemptHistory -> attemptHistory.wasGranted() || !attemptHistory.lost)
            .sorted(Comparator.comparingLong(attemptHistory -> attemptHistory.queued))
            .toList();
    boolean tokens = granted.stream().allMatch(attemptHistory -> attemptHistory.token != 0);
    AttemptHistory lastGranted = null;
    AttemptHistory lastWaiting = null;
    int done = 0;
    for (AttemptHistory attemptHistory : granted) {
      while (done < queued.size() && queued.get(done).queued < attemptHistory.asked) {
        AttemptHistory earlier = queued.get(done++);
        if (!earlier.wasGranted()) {
          lastWaiting =
              lastWaiting == null || lastWaiting.ended < earlier.ended ? earlier : lastWaiting;
        } else if (lastGranted == null || order(lastGranted, tokens) < order(earlier, tokens)) {
          lastGranted = earlier;
        }
      }
      if (lastGranted != null && order(lastGranted, tokens) > order(attemptHistory, tokens)) {
        found.add(passed(lock, attemptHistory, lastGranted));
      }
      if (lastWaiting != null && lastWaiting.ended > attemptHistory.granted) {
        found.add(passed(lock, attemptHistory, lastWaiting));
      }
    }
  }

  private static long order(AttemptHistory attemptHistory, boolean tokens) {
    return tokens ? attemptHistory.token : attemptHistory.granted;
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
