package io.mortise.torture.history;

import io.mortise.torture.history.LockHistory.Trial;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.function.Consumer;

/** How long a lock stayed shut although somebody wanted it, and in which order it was given. */
final class Waits {
  /**
   * A time in which somebody waited and nobody held.
   *
   * @param from when the last holder had given back, or when somebody began to wait
   * @param until when somebody held, or had waited for as long as it wanted
   * @param free when the last holder had given back, or was not heard of any more
   */
  record Gap(long from, long until, long free) {}

  private Waits() {}

  /** Sorts and sweeps: O(n log n). */
  static void gaps(LockHistory lock, Trouble trouble, Consumer<Gap> gaps) {
    List<Hold> holds = new ArrayList<>(lock.holds);
    holds.sort(Comparator.comparingLong(hold -> hold.from));
    List<Trial> waits = new ArrayList<>();
    List<Trial> vain = new ArrayList<>();
    for (Trial trial : lock.trials) {
      if (trial.waited() && !trouble.suffered(trial.process(), trial.asked(), trial.over())) {
        waits.add(trial);
        if (trial.end() == Kind.TIMED_OUT) {
          vain.add(trial);
        }
      }
    }
    waits.sort(Comparator.comparingLong(Trial::asked));
    vain.sort(Comparator.comparingLong(Trial::over));
    PriorityQueue<Trial> waiting = new PriorityQueue<>(Comparator.comparingLong(Trial::asked));
    long free = Long.MIN_VALUE;
    int nextWait = 0;
    int nextVain = 0;
    for (Hold hold : holds) {
      while (nextVain < vain.size() && vain.get(nextVain).over() < hold.from) {
        Trial trial = vain.get(nextVain++);
        report(trial.asked(), trial.over(), free, gaps);
      }
      while (nextWait < waits.size() && waits.get(nextWait).asked() < hold.from) {
        waiting.add(waits.get(nextWait++));
      }
      while (!waiting.isEmpty() && waiting.peek().over() < hold.from) {
        waiting.remove();
      }
      if (!waiting.isEmpty() && free > Long.MIN_VALUE) {
        report(waiting.peek().asked(), hold.from, free, gaps);
      }
      long gave = Math.min(hold.gave, hold.killed);
      free = Math.max(free, trouble.silentSince(hold.worker / Event.PROCESS, hold.from, gave));
    }
  }

  private static void report(long asked, long until, long free, Consumer<Gap> gaps) {
    long from = Math.max(asked, free);
    if (from < until) {
      gaps.accept(new Gap(from, until, free));
    }
  }

  /**
   * Waits that the store had shown in its queue, and that were overtaken by who asked after that.
   * Waits during which something went wrong are left out.
   *
   * @param each hears of the one that was overtaken, and of the latest possible overtaker
   * @return how many waits were judged
   */
  static int overtaken(LockHistory lock, Trouble trouble, Consumer<Trial> each) {
    List<Trial> queued = new ArrayList<>();
    for (Trial trial : lock.trials) {
      boolean plain = trial.held() || trial.end() == Kind.TIMED_OUT;
      if (plain && trial.queued() < trial.over() && trouble.isCalm(trial.asked(), trial.over())) {
        queued.add(trial);
      }
    }
    queued.sort(Comparator.comparingLong(Trial::queued));
    List<Trial> served = new ArrayList<>();
    lock.trials.stream().filter(Trial::held).forEach(served::add);
    served.sort(Comparator.comparingLong(Trial::asked));
    Trial last = null;
    int next = 0;
    for (Trial later : served) {
      while (next < queued.size() && queued.get(next).queued() < later.asked()) {
        Trial before = queued.get(next++);
        last = last == null || before.over() > last.over() ? before : last;
      }
      if (last != null && last.over() > later.over()) {
        each.accept(last);
      }
    }
    return queued.size();
  }
}
