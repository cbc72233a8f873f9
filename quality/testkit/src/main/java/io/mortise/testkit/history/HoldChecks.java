package io.mortise.testkit.history;

import io.mortise.annotation.Beta;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.function.BiConsumer;
import java.util.function.ToLongFunction;

/**
 * The checker of holds for histories of contract suites, simulated worlds, torture runs and rolling
 * deployments. Each check looks at one lock, and sorts and sweeps in O(n log n). The caller decides
 * which findings are excused.
 *
 * <p>A finding is proved by the order of events on one clock. A general search for a linearisation
 * is not needed: fencing tokens give the order of the holds.
 */
@Beta
public final class HoldChecks {
  private HoldChecks() {}

  /**
   * No two holders: the weights of the holds at any time stay within the capacity. A hold that ends
   * when it begins, or before, takes no room for others, but must find room itself.
   *
   * @param found is told of each hold that begins too early, and of the holds that last then, in
   *     the order of their begins
   */
  public static <T> void exclusion(
      Collection<CheckedHold<T>> holds, BiConsumer<CheckedHold<T>, List<CheckedHold<T>>> found) {
    PriorityQueue<CheckedHold<T>> current =
        new PriorityQueue<>(Comparator.comparingLong(hold -> hold.until()));
    long weight = 0;
    for (CheckedHold<T> hold : sorted(holds, CheckedHold::from)) {
      while (!current.isEmpty() && current.peek().until() <= hold.from()) {
        weight -= current.remove().mode().weight();
      }
      if (weight + hold.mode().weight() > hold.mode().capacity()) {
        found.accept(hold, sorted(current, CheckedHold::from));
      }
      if (hold.from() < hold.until()) {
        current.add(hold);
        weight += hold.mode().weight();
      }
    }
  }

  /**
   * Tokens rise: a hold that was asked for when another had been granted has the greater token, and
   * no two exclusive holds have the same. Shared and permit holders overlap, and those of one
   * process may share a grant: their tokens are compared with those of exclusive holds only. Holds
   * without a token are left out.
   *
   * @param same is told of two exclusive holds with one token, the later one first
   * @param fallen is told of a hold with too small a token, and of the greatest before it
   */
  public static <T> void tokens(
      Collection<CheckedHold<T>> holds,
      BiConsumer<CheckedHold<T>, CheckedHold<T>> same,
      BiConsumer<CheckedHold<T>, CheckedHold<T>> fallen) {
    List<CheckedHold<T>> byFrom =
        sorted(holds.stream().filter(hold -> hold.token() != 0).toList(), CheckedHold::from);
    Map<Long, CheckedHold<T>> exclusive = new HashMap<>();
    for (CheckedHold<T> hold : byFrom) {
      CheckedHold<T> first =
          hold.mode().isExclusive() ? exclusive.putIfAbsent(hold.token(), hold) : null;
      if (first != null) {
        same.accept(hold, first);
      }
    }
    CheckedHold<T> greatest = null;
    CheckedHold<T> greatestExclusive = null;
    int done = 0;
    for (CheckedHold<T> hold : sorted(byFrom, CheckedHold::asked)) {
      while (done < byFrom.size() && byFrom.get(done).from() < hold.asked()) {
        CheckedHold<T> earlier = byFrom.get(done++);
        greatest = greatest == null || greatest.token() < earlier.token() ? earlier : greatest;
        if (earlier.mode().isExclusive()
            && (greatestExclusive == null || greatestExclusive.token() < earlier.token())) {
          greatestExclusive = earlier;
        }
      }
      CheckedHold<T> before = hold.mode().isExclusive() ? greatest : greatestExclusive;
      if (before != null && !rises(before, hold)) {
        fallen.accept(hold, before);
      }
    }
  }

  private static boolean rises(CheckedHold<?> before, CheckedHold<?> hold) {
    // Two exclusive holds with one token are told of apart.
    boolean mayBeSame = before.mode().isExclusive() && hold.mode().isExclusive();
    return before.token() < hold.token() || (mayBeSame && before.token() == hold.token());
  }

  /**
   * First come, first served: a wait that stood in the queue before another was asked for is
   * granted before it, unless it has ended by then. Grants are compared by token where all have
   * one, else by time.
   *
   * @param found is told of a grant that came too early, and of the wait that it passed
   */
  public static <T> void fifo(
      Collection<CheckedWait<T>> waits, BiConsumer<CheckedWait<T>, CheckedWait<T>> found) {
    List<CheckedWait<T>> queued =
        sorted(
            waits.stream().filter(wait -> wait.queued() != Long.MAX_VALUE).toList(),
            CheckedWait::queued);
    List<CheckedWait<T>> granted =
        sorted(waits.stream().filter(CheckedWait::granted).toList(), CheckedWait::asked);
    ToLongFunction<CheckedWait<T>> order =
        granted.stream().allMatch(wait -> wait.token() != 0)
            ? CheckedWait::token
            : CheckedWait::over;
    CheckedWait<T> lastGranted = null;
    CheckedWait<T> lastWaiting = null;
    int done = 0;
    for (CheckedWait<T> wait : granted) {
      while (done < queued.size() && queued.get(done).queued() < wait.asked()) {
        CheckedWait<T> earlier = queued.get(done++);
        if (!earlier.granted()) {
          lastWaiting =
              lastWaiting == null || lastWaiting.over() < earlier.over() ? earlier : lastWaiting;
        } else if (lastGranted == null
            || order.applyAsLong(lastGranted) < order.applyAsLong(earlier)) {
          lastGranted = earlier;
        }
      }
      if (lastGranted != null && order.applyAsLong(lastGranted) > order.applyAsLong(wait)) {
        found.accept(wait, lastGranted);
      }
      if (lastWaiting != null && lastWaiting.over() > wait.over()) {
        found.accept(wait, lastWaiting);
      }
    }
  }

  private static <E> List<E> sorted(Collection<E> all, ToLongFunction<E> key) {
    return all.stream().sorted(Comparator.comparingLong(key)).toList();
  }
}
