package io.mortise.testkit.sim;

import io.mortise.testkit.history.Violation;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * Nobody waits for a lock that nobody holds for longer than a bound: a crash frees within the TTL,
 * a release wakes, and no wake-up is lost for good.
 */
final class Waits {
  private final Map<String, List<Judge.Try>> byLock = new LinkedHashMap<>();
  private final ToLongFunction<String> bound;
  private final long from;

  /**
   * @param bound of each lock, in nanoseconds
   * @param from waits before that time do not count
   */
  Waits(Collection<Judge.Try> tries, ToLongFunction<String> bound, long from) {
    this.bound = bound;
    this.from = from;
    for (Judge.Try attempt : tries) {
      byLock.computeIfAbsent(attempt.lock, unused -> new ArrayList<>()).add(attempt);
    }
  }

  /**
   * @param anew a process died: what it held or was handed is free a TTL later
   */
  private record Edge(long time, int waiting, int holding, boolean anew) {}

  List<Violation> check() {
    List<Violation> found = new ArrayList<>();
    byLock.forEach((lock, tries) -> check(lock, tries, found));
    return found;
  }

  private void check(String lock, List<Judge.Try> tries, List<Violation> found) {
    List<Edge> edges = new ArrayList<>();
    for (Judge.Try attempt : tries) {
      long begin = Math.max(attempt.askedAt, from);
      if (!attempt.once && begin < attempt.waitedUntil) {
        edges.add(new Edge(begin, 1, 0, false));
        edges.add(new Edge(attempt.waitedUntil, -1, 0, !attempt.life.alive));
      }
      if (attempt.grantedAt != Long.MAX_VALUE) {
        edges.add(new Edge(attempt.grantedAt, 0, 1, false));
        edges.add(new Edge(Math.max(attempt.grantedAt, attempt.freeAt()), 0, -1, false));
      }
    }
    edges.sort(Comparator.comparingLong(Edge::time));
    int waiting = 0;
    int holding = 0;
    long since = 0;
    for (Edge edge : edges) {
      boolean idle = waiting > 0 && holding == 0;
      if (idle && edge.time() - since > bound.applyAsLong(lock)) {
        found.add(
            new Violation(
                "bounded wait",
                lock,
                waiting
                    + " waited and nobody held from "
                    + since / 1e6
                    + " ms to "
                    + edge.time() / 1e6
                    + " ms, longer than "
                    + bound.applyAsLong(lock) / 1e6
                    + " ms.",
                List.of()));
      }
      waiting += edge.waiting();
      holding += edge.holding();
      if ((!idle || edge.anew()) && waiting > 0 && holding == 0) {
        since = Math.max(edge.time(), from);
      }
    }
  }
}
