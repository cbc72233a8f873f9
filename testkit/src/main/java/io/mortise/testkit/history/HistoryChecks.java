package io.mortise.testkit.history;

import io.mortise.spi.LockView;
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
  public static List<Violation> all(List<Event> events, boolean fair) {
    List<Violation> found = new ArrayList<>(exclusion(events));
    found.addAll(tokenOrder(events));
    if (fair) {
      found.addAll(fifo(events));
    }
    return found;
  }

  /**
   * No two holders believe in what excludes each other: at no time do the weights of those who
   * believe add up to more than the capacity. A belief runs from the return of the acquire until
   * the release is called, the loss is told, the process dies, or the lease's validity ends.
   */
  public static List<Violation> exclusion(List<Event> events) {
    List<Violation> found = new ArrayList<>();
    byLock(events).forEach((lock, attempts) -> exclusion(lock, attempts, found));
    return found;
  }

  private static void exclusion(String lock, Collection<Attempt> attempts, List<Violation> found) {
    record Edge(long nanos, boolean begins, Attempt.Span span) {}
    List<Edge> edges = new ArrayList<>();
    for (Attempt attempt : attempts) {
      for (Attempt.Span span : attempt.belief) {
        edges.add(new Edge(span.from(), true, span));
        edges.add(new Edge(span.to(), false, span));
      }
    }
    // An end comes before a beginning of the same instant: beliefs are half-open.
    edges.sort(Comparator.comparingLong(Edge::nanos).thenComparing(Edge::begins));
    Map<String, Attempt.Span> believers = new LinkedHashMap<>();
    long weight = 0;
    for (Edge edge : edges) {
      Attempt.Span span = edge.span();
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
  public static List<Violation> tokenOrder(List<Event> events) {
    List<Violation> found = new ArrayList<>();
    byLock(events).forEach((lock, attempts) -> tokenOrder(lock, attempts, found));
    return found;
  }

  private static void tokenOrder(String lock, Collection<Attempt> attempts, List<Violation> found) {
    List<Attempt> byAsked =
        attempts.stream()
            .filter(attempt -> attempt.wasGranted() && attempt.token != 0)
            .sorted(Comparator.comparingLong(attempt -> attempt.asked))
            .toList();
    List<Attempt> byGranted =
        byAsked.stream().sorted(Comparator.comparingLong(attempt -> attempt.granted)).toList();
    Map<Long, Attempt> exclusive = new HashMap<>();
    Attempt greatest = null;
    Attempt greatestExclusive = null;
    int done = 0;
    for (Attempt attempt : byAsked) {
      while (done < byGranted.size() && byGranted.get(done).granted < attempt.asked) {
        Attempt earlier = byGranted.get(done++);
        greatest = greatest == null || greatest.token < earlier.token ? earlier : greatest;
        if (earlier.exclusive
            && (greatestExclusive == null || greatestExclusive.token < earlier.token)) {
          greatestExclusive = earlier;
        }
      }
      Attempt before = attempt.exclusive ? greatest : greatestExclusive;
      if (before != null && before.token >= attempt.token) {
        found.add(
            new Violation(
                "token order",
                lock,
                "Hold "
                    + attempt.id
                    + ", asked for at "
                    + attempt.asked
                    + " ns, has token "
                    + attempt.token
                    + ", but hold "
                    + before.id
                    + ", granted before at "
                    + before.granted
                    + " ns, has "
                    + before.token
                    + ".",
                List.of(before.id, attempt.id)));
      }
      Attempt same = attempt.exclusive ? exclusive.put(attempt.token, attempt) : null;
      if (same != null) {
        found.add(
            new Violation(
                "token order",
                lock,
                "Holds "
                    + same.id
                    + " and "
                    + attempt.id
                    + " both have token "
                    + attempt.token
                    + ".",
                List.of(same.id, attempt.id)));
      }
    }
  }

  /**
   * First come, first served: an attempt that the store had confirmed as queued before another was
   * asked for is granted before it. Attempts that were lost or whose process died are excused, and
   * so are those that gave up before the other was granted. Grants are compared by token where both
   * have one, else by time.
   */
  public static List<Violation> fifo(List<Event> events) {
    List<Violation> found = new ArrayList<>();
    byLock(events).forEach((lock, attempts) -> fifo(lock, attempts, found));
    return found;
  }

  private static void fifo(String lock, Collection<Attempt> attempts, List<Violation> found) {
    List<Attempt> granted =
        attempts.stream()
            .filter(Attempt::wasGranted)
            .sorted(Comparator.comparingLong(attempt -> attempt.asked))
            .toList();
    List<Attempt> queued =
        attempts.stream()
            .filter(attempt -> attempt.queued != Attempt.NEVER)
            .filter(attempt -> attempt.wasGranted() || !attempt.lost)
            .sorted(Comparator.comparingLong(attempt -> attempt.queued))
            .toList();
    boolean tokens = granted.stream().allMatch(attempt -> attempt.token != 0);
    Attempt lastGranted = null;
    Attempt lastWaiting = null;
    int done = 0;
    for (Attempt attempt : granted) {
      while (done < queued.size() && queued.get(done).queued < attempt.asked) {
        Attempt earlier = queued.get(done++);
        if (!earlier.wasGranted()) {
          lastWaiting =
              lastWaiting == null || lastWaiting.ended < earlier.ended ? earlier : lastWaiting;
        } else if (lastGranted == null || order(lastGranted, tokens) < order(earlier, tokens)) {
          lastGranted = earlier;
        }
      }
      if (lastGranted != null && order(lastGranted, tokens) > order(attempt, tokens)) {
        found.add(passed(lock, attempt, lastGranted));
      }
      if (lastWaiting != null && lastWaiting.ended > attempt.granted) {
        found.add(passed(lock, attempt, lastWaiting));
      }
    }
  }

  private static long order(Attempt attempt, boolean tokens) {
    return tokens ? attempt.token : attempt.granted;
  }

  private static Violation passed(String lock, Attempt attempt, Attempt before) {
    return new Violation(
        "first come, first served",
        lock,
        "Attempt "
            + attempt.id
            + ", asked for at "
            + attempt.asked
            + " ns, was granted before "
            + before.id
            + ", which was queued at "
            + before.queued
            + " ns.",
        List.of(before.id, attempt.id));
  }

  /**
   * Nothing is left behind: what the store shows after all have left (and, if some died, after
   * their TTL and a sweep) has neither holders nor waiters.
   */
  public static List<Violation> leaks(Collection<LockView> locks) {
    List<Violation> found = new ArrayList<>();
    for (LockView lock : locks) {
      List<String> left =
          Stream.concat(lock.holders().stream(), lock.waiters().stream())
              .map(party -> party.attempt().toString())
              .toList();
      if (!left.isEmpty()) {
        found.add(
            new Violation(
                "leak",
                lock.name().value(),
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

  private static Map<String, List<Attempt>> byLock(List<Event> events) {
    Map<String, List<Attempt>> locks = new LinkedHashMap<>();
    for (Attempt attempt : Attempt.gather(events)) {
      locks.computeIfAbsent(attempt.lock, lock -> new ArrayList<>()).add(attempt);
    }
    return locks;
  }
}
