package io.mortise.torture.history;

import io.mortise.torture.history.LockHistory.AcquireTrial;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.function.Consumer;

/** The times for which a wanted lock stayed taken, and the order of its grants. */
final class WaitAnalysis {
  /**
   * A time with a waiter but without a holder.
   *
   * @param from the end of the last hold, or the begin of the wait
   * @param until the begin of the next hold, or the timeout of the wait
   * @param free the end of the last hold, or the last sign of its holder
   */
  record HandoffGap(long from, long until, long free) {}

  private WaitAnalysis() {}

  /** Sorts and sweeps: O(n log n). */
  static void gaps(LockHistory lock, FaultLog faultLog, Consumer<HandoffGap> handoffGaps) {
    List<ObservedHold> observedHolds = new ArrayList<>(lock.observedHolds);
    observedHolds.sort(Comparator.comparingLong(observedHold -> observedHold.from));
    List<AcquireTrial> waits = new ArrayList<>();
    List<AcquireTrial> vain = new ArrayList<>();
    for (AcquireTrial acquireTrial : lock.acquireTrials) {
      if (acquireTrial.waited()
          && !faultLog.suffered(
              acquireTrial.process(), acquireTrial.asked(), acquireTrial.over())) {
        waits.add(acquireTrial);
        if (acquireTrial.end() == EventKind.TIMED_OUT) {
          vain.add(acquireTrial);
        }
      }
    }
    waits.sort(Comparator.comparingLong(AcquireTrial::asked));
    vain.sort(Comparator.comparingLong(AcquireTrial::over));
    PriorityQueue<AcquireTrial> waiting =
        new PriorityQueue<>(Comparator.comparingLong(AcquireTrial::asked));
    long free = Long.MIN_VALUE;
    int nextWait = 0;
    int nextVain = 0;
    for (ObservedHold observedHold : observedHolds) {
      while (nextVain < vain.size() && vain.get(nextVain).over() < observedHold.from) {
        AcquireTrial acquireTrial = vain.get(nextVain++);
        report(acquireTrial.asked(), acquireTrial.over(), free, handoffGaps);
      }
      while (nextWait < waits.size() && waits.get(nextWait).asked() < observedHold.from) {
        waiting.add(waits.get(nextWait++));
      }
      while (!waiting.isEmpty() && waiting.peek().over() < observedHold.from) {
        waiting.remove();
      }
      if (!waiting.isEmpty() && free > Long.MIN_VALUE) {
        report(waiting.peek().asked(), observedHold.from, free, handoffGaps);
      }
      long gave = Math.min(observedHold.gave, observedHold.killed);
      free =
          Math.max(
              free,
              faultLog.silentSince(
                  observedHold.worker / HistoryEvent.PROCESS, observedHold.from, gave));
    }
  }

  private static void report(long asked, long until, long free, Consumer<HandoffGap> handoffGaps) {
    long from = Math.max(asked, free);
    if (from < until) {
      handoffGaps.accept(new HandoffGap(from, until, free));
    }
  }

  /**
   * Finds waits that the store had shown in its queue, and that were overtaken by later requests.
   * Ignores waits with a fault meanwhile.
   *
   * @param each receives the overtaken wait, and the latest possible overtaker
   * @return the number of judged waits
   */
  static int overtaken(LockHistory lock, FaultLog faultLog, Consumer<AcquireTrial> each) {
    List<AcquireTrial> queued = new ArrayList<>();
    for (AcquireTrial acquireTrial : lock.acquireTrials) {
      boolean plain = acquireTrial.held() || acquireTrial.end() == EventKind.TIMED_OUT;
      if (plain
          && acquireTrial.queued() < acquireTrial.over()
          && faultLog.isCalm(acquireTrial.asked(), acquireTrial.over())) {
        queued.add(acquireTrial);
      }
    }
    queued.sort(Comparator.comparingLong(AcquireTrial::queued));
    List<AcquireTrial> served = new ArrayList<>();
    lock.acquireTrials.stream().filter(AcquireTrial::held).forEach(served::add);
    served.sort(Comparator.comparingLong(AcquireTrial::asked));
    AcquireTrial last = null;
    int next = 0;
    for (AcquireTrial later : served) {
      while (next < queued.size() && queued.get(next).queued() < later.asked()) {
        AcquireTrial before = queued.get(next++);
        last = last == null || before.over() > last.over() ? before : last;
      }
      if (last != null && last.over() > later.over()) {
        each.accept(last);
      }
    }
    return queued.size();
  }
}
