package io.mortise.simulation;

import io.mortise.testkit.history.Violation;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * No waiter waits for longer than a bound while there is room for any that might be first: a crash
 * frees the lock within the TTL, a release wakes a waiter, and no wake-up is lost for good.
 */
final class WaitBoundCheck {
  private final Map<String, List<InvariantChecker.ObservedAttempt>> byLock = new LinkedHashMap<>();
  private final ToLongFunction<String> bound;
  private final long from;

  /**
   * @param bound of each lock, in nanoseconds
   * @param from waits before that time do not count
   */
  WaitBoundCheck(
      Collection<InvariantChecker.ObservedAttempt> tries, ToLongFunction<String> bound, long from) {
    this.bound = bound;
    this.from = from;
    for (InvariantChecker.ObservedAttempt attempt : tries) {
      byLock.computeIfAbsent(attempt.lock, unused -> new ArrayList<>()).add(attempt);
    }
  }

  /**
   * The begin or end of a wait or hold.
   *
   * @param waiting weight of the wait, negative at its end
   * @param holding weight of the hold, negative at its end
   * @param anew a process died: its holds and hand-offs are free a TTL later
   */
  private record Edge(long time, int waiting, int holding, boolean anew) {}

  List<Violation> check() {
    List<Violation> found = new ArrayList<>();
    byLock.forEach((lock, tries) -> check(lock, tries, found));
    return found;
  }

  private void check(
      String lock, List<InvariantChecker.ObservedAttempt> tries, List<Violation> found) {
    List<Edge> edges = new ArrayList<>();
    long capacity = 0;
    for (InvariantChecker.ObservedAttempt attempt : tries) {
      int weight = attempt.lockUsage.mode().weight();
      capacity = attempt.lockUsage.mode().capacity();
      long begin = Math.max(attempt.askedAt, from);
      if (attempt.once
          && attempt.askedAt >= from
          && attempt.waitedUntil - attempt.askedAt > bound.applyAsLong(lock) + callBack(attempt)) {
        found.add(new Violation("a try waits", lock, attempt.id + " did.", List.of(attempt.id)));
      }
      if (!attempt.once && begin < attempt.waitedUntil) {
        edges.add(new Edge(begin, weight, 0, false));
        edges.add(new Edge(attempt.waitedUntil, -weight, 0, !attempt.simProcess.alive));
      }
      if (attempt.grantedAt != Long.MAX_VALUE) {
        long free = Math.max(attempt.grantedAt, attempt.freeAt());
        edges.add(new Edge(attempt.grantedAt, 0, weight, false));
        edges.add(new Edge(free, 0, -weight, false));
      }
    }
    edges.sort(Comparator.comparingLong(Edge::time));
    List<Integer> waiting = new ArrayList<>();
    long held = 0;
    long since = 0;
    boolean idle = false;
    for (Edge edge : edges) {
      if (idle && edge.time() - since > bound.applyAsLong(lock)) {
        found.add(
            new Violation("bounded wait", lock, text(lock, waiting, held, since, edge), List.of()));
      }
      if (edge.waiting() > 0) {
        waiting.add(edge.waiting());
      } else if (edge.waiting() < 0) {
        waiting.remove(Integer.valueOf(-edge.waiting()));
      }
      held += edge.holding();
      // There is room for any waiter, whichever is first in the queue.
      boolean room = held + waiting.stream().mapToInt(w -> w).max().orElse(0) <= capacity;
      boolean nowIdle = !waiting.isEmpty() && room;
      // A grant to one waiter restarts the bound of the others.
      if (nowIdle && (!idle || edge.anew() || edge.holding() > 0)) {
        since = Math.max(edge.time(), from);
      }
      idle = nowIdle;
    }
  }

  /**
   * How long a try may wait for an idle holder that it has called back. Where call-backs are looked
   * for, it waits for the pause of 100 ms and twice as long.
   */
  private static long callBack(InvariantChecker.ObservedAttempt attempt) {
    return attempt.lockUsage.options().sticky() == null ? 0 : 620 * VirtualTimeScheduler.MILLI;
  }

  private String text(String lock, List<Integer> waiting, long held, long since, Edge edge) {
    return String.format(
        "%d waited for weights of %s while only %d were held, from %.3f ms to %.3f ms, longer than %.3f ms.",
        waiting.size(),
        waiting,
        held,
        since / 1e6,
        edge.time() / 1e6,
        bound.applyAsLong(lock) / 1e6);
  }
}
