package io.mortise.torture.history;

import io.mortise.torture.history.HistoryViolation.SafetyRule;
import java.util.BitSet;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Checks that a live process that asks is granted locks while others are: a stuck process breaks no
 * other promise, apart from delays. Counts the TTLs in which a process held a lock. For one thread.
 */
final class StarvationCheck {
  /** Far more than the few in which a session is lost and reopened. */
  private static final int MOST = 20;

  private final long ttl;
  private final Map<Integer, ProcessActivity> lives = new TreeMap<>();

  private static final class ProcessActivity {
    private final BitSet held = new BitSet();
    private long first = Long.MAX_VALUE;
    private long last = Long.MIN_VALUE;
  }

  StarvationCheck(long ttlNanos) {
    this.ttl = ttlNanos;
  }

  /** Consumes an event of a worker. */
  void take(HistoryEvent historyEvent) {
    ProcessActivity processActivity =
        lives.computeIfAbsent(historyEvent.process(), process -> new ProcessActivity());
    processActivity.first = Math.min(processActivity.first, historyEvent.nanos());
    processActivity.last = Math.max(processActivity.last, historyEvent.nanos());
    if (historyEvent.kind() == EventKind.HOLDS) {
      processActivity.held.set(place(historyEvent.nanos()));
    }
  }

  private int place(long nanos) {
    return Math.toIntExact(nanos / ttl);
  }

  void check(
      FaultLog faultLog, Map<Integer, Long> killed, Consumer<HistoryViolation> historyViolations) {
    lives.forEach(
        (process, processActivity) -> {
          long end = Math.min(processActivity.last, killed.getOrDefault(process, Long.MAX_VALUE));
          BitSet others = new BitSet();
          lives.forEach(
              (other, its) -> {
                if (!other.equals(process)) {
                  others.or(its.held);
                }
              });
          int without = 0;
          for (int place = place(processActivity.first) + 1; place < place(end); place++) {
            if (processActivity.held.get(place)) {
              without = 0;
            } else if (others.get(place) && !wasDisturbed(faultLog, process, place)) {
              without++;
            }
            if (without > MOST) {
              historyViolations.accept(finding(process, place));
              return;
            }
          }
        });
  }

  /** Whether the process itself had a fault, or one that ended less than a TTL before. */
  private boolean wasDisturbed(FaultLog faultLog, int process, int place) {
    return faultLog.suffered(process, (place - 1) * ttl, (place + 1) * ttl);
  }

  private HistoryViolation finding(int process, int place) {
    return new HistoryViolation(
        SafetyRule.PROGRESS,
        "",
        place * ttl,
        String.format(
            Locale.ROOT,
            "process %d had got nothing for more than %d TTLs in which others held",
            process,
            MOST));
  }
}
