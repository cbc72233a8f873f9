package io.mortise.torture.history;

import io.mortise.testkit.history.CheckedWait;
import io.mortise.testkit.history.HoldChecks;
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
   * Waits that the store had shown in its queue, and that were overtaken by a worker that asked
   * after that. Waits during which something went wrong are left out.
   *
   * @param each is told of the one that was overtaken
   * @return how many waits were judged
   */
  static int overtaken(LockHistory lock, FaultLog faultLog, Consumer<AcquireTrial> each) {
    List<CheckedWait<AcquireTrial>> waits = new ArrayList<>();
    int judged = 0;
    for (AcquireTrial trial : lock.acquireTrials) {
      boolean plain = trial.held() || trial.end() == EventKind.TIMED_OUT;
      boolean counts =
          plain && trial.queued() < trial.over() && faultLog.isCalm(trial.asked(), trial.over());
      judged += counts ? 1 : 0;
      waits.add(
          new CheckedWait<>(
              trial,
              trial.asked(),
              counts ? trial.queued() : Long.MAX_VALUE,
              trial.over(),
              trial.held(),
              0));
    }
    HoldChecks.fifo(waits, (wait, before) -> each.accept(before.waiter()));
    return judged;
  }
}
