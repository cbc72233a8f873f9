package io.mortise.torture.history;

import io.mortise.spi.Mode;
import io.mortise.testkit.history.CheckedHold;
import io.mortise.testkit.history.HoldChecks;
import io.mortise.torture.history.HistoryViolation.SafetyRule;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The history of one lock. All checks sort and sweep: O(n log n).
 *
 * <p>Checks report only violations that are certain by the order of events on one clock. A hold
 * certainly lasts from the moment after its worker first saw the lease valid to the moment before
 * it last did. One hold certainly precedes another if it was there before the other's request.
 */
final class LockHistory {
  /**
   * A try with its outcome and end.
   *
   * @param waited whether it would wait
   * @param queued the time when the store had shown it; {@code Long.MAX_VALUE} if unknown
   */
  record AcquireTrial(
      int worker, long asked, long over, boolean waited, long queued, EventKind end) {
    int process() {
      return worker / HistoryEvent.PROCESS;
    }

    boolean held() {
      return end == EventKind.HOLDS;
    }
  }

  /** The idle time of the grant of a sticky lock. */
  private static final long STICKY_NANOS = HistoryChecker.IDLE.toNanos();

  /** The least time that a try waits for an idle holder; failures are remembered. */
  private static final long CALL_NANOS = 50_000_000;

  private static final long REMEMBERED_NANOS = 1_000_000_000;

  private final String name;
  final List<ObservedHold> observedHolds = new ArrayList<>();
  final List<AcquireTrial> acquireTrials = new ArrayList<>();
  private final List<AcquireTrial> busy = new ArrayList<>();
  private final List<AcquireTrial> doubtful = new ArrayList<>();
  private final List<HistoryEvent> refusals = new ArrayList<>();
  private long writes;
  private long last = -1;
  private long left;
  private long unanswered;

  /** The last time, by process, that a try waited in vain for an idle holder. */
  private final Map<Integer, Long> calledInVain = new HashMap<>();

  LockHistory(String name) {
    this.name = name;
  }

  /** Records a finished try. */
  void tried(AcquireTrial acquireTrial) {
    acquireTrials.add(acquireTrial);
    if (acquireTrial.end == EventKind.BUSY) {
      busy.add(acquireTrial);
    } else if (acquireTrial.end == EventKind.STALE || acquireTrial.end == EventKind.OUTAGE) {
      // It may have been granted unnoticed.
      doubtful.add(acquireTrial);
    }
  }

  /** Records a try whose process was killed before the outcome. */
  void unanswered(HistoryEvent asked, long killed) {
    doubtful.add(
        new AcquireTrial(
            asked.worker(),
            asked.nanos(),
            killed,
            asked.more() == 0,
            Long.MAX_VALUE,
            EventKind.OUTAGE));
  }

  void wrote() {
    writes++;
  }

  void refused(HistoryEvent historyEvent) {
    refusals.add(historyEvent);
  }

  void finalValue(HistoryEvent historyEvent) {
    last = historyEvent.token();
  }

  void left(HistoryEvent historyEvent) {
    left += historyEvent.more();
  }

  /** Updates that the resource acknowledged but lost. */
  long lostUpdates() {
    return last < 0 ? 0 : Math.max(0, writes - last);
  }

  private List<CheckedHold<ObservedHold>> holds() {
    return observedHolds.stream()
        .map(
            hold ->
                new CheckedHold<>(
                    hold, Mode.EXCLUSIVE, hold.asked, hold.from, hold.sure, hold.token))
        .toList();
  }

  /** Holds that began while another lasted for certain. */
  int overlaps(Consumer<HistoryViolation> historyViolations) {
    int[] overlaps = {0};
    HoldChecks.exclusion(
        holds(),
        (hold, others) -> {
          overlaps[0]++;
          ObservedHold longest =
              others.stream()
                  .max(Comparator.comparingLong(CheckedHold::until))
                  .orElseThrow()
                  .holder();
          historyViolations.accept(
              new HistoryViolation(
                  SafetyRule.EXCLUSION,
                  name,
                  hold.from(),
                  String.format(
                      Locale.ROOT,
                      "%s held although %s still saw its lease valid %.3f ms later",
                      hold.holder(),
                      longest,
                      (longest.sure - hold.from()) / 1e6)));
        });
    return overlaps[0];
  }

  void checkTokens(Consumer<HistoryViolation> historyViolations) {
    HoldChecks.tokens(
        holds(),
        (hold, first) ->
            historyViolations.accept(
                of(
                    SafetyRule.UNIQUE_TOKENS,
                    hold.holder(),
                    hold.holder() + " has the token of " + first.holder())),
        (hold, before) ->
            historyViolations.accept(
                of(
                    SafetyRule.RISING_TOKENS,
                    hold.holder(),
                    hold.holder() + " asked when " + before.holder() + " had held")));
  }

  private HistoryViolation of(SafetyRule rule, ObservedHold hold, String text) {
    return new HistoryViolation(rule, name, hold.from, text, hold.worker, hold.token);
  }

  /** The greatest token of holds before then. */
  long greatestToken(long nanos) {
    return observedHolds.stream()
        .filter(observedHold -> observedHold.from < nanos)
        .mapToLong(observedHold -> observedHold.token)
        .max()
        .orElse(0);
  }

  /** Whether its holds have tokens, which guard its resource. */
  boolean hasTokens() {
    return observedHolds.isEmpty()
        || observedHolds.stream().anyMatch(observedHold -> observedHold.token != 0);
  }

  void checkResource(Consumer<HistoryViolation> historyViolations) {
    for (HistoryEvent refused : refusals) {
      if (refused.more() == 1) {
        historyViolations.accept(
            new HistoryViolation(
                SafetyRule.NO_RIGHTFUL_REFUSAL,
                name,
                refused.nanos(),
                "worker " + refused.worker() + ", token " + refused.token() + ", was refused",
                refused.worker(),
                refused.token()));
      }
    }
    if (lostUpdates() > 0) {
      historyViolations.accept(
          new HistoryViolation(
              SafetyRule.NO_LOST_UPDATE,
              name,
              0,
              writes + " updates were taken, " + last + " are there"));
    }
  }

  /** The worker of obstacles for all, including the process that left them. */
  private static final int NOBODY = -1;

  /** A time in which a worker held, or asked, or may have held unknowingly. */
  private record WorkerInterval(int worker, long from, long until) {}

  /**
   * Checks that busy implies another holder or waiter.
   *
   * @param longestHoldNanos twice the longest unnoticed hold of a failed request or a dead process
   */
  void checkBusy(
      long longestHoldNanos, FaultLog faultLog, Consumer<HistoryViolation> historyViolations) {
    boolean sticky = name.startsWith(HistoryChecker.STICKY);
    List<WorkerInterval> spans = new ArrayList<>();
    for (ObservedHold observedHold : observedHolds) {
      long until = Math.min(observedHold.ended, observedHold.killed);
      long disturbed =
          faultLog.disturbedUntil(
              observedHold.worker / HistoryEvent.PROCESS, observedHold.sure, until);
      boolean lost = until == observedHold.killed || disturbed > Long.MIN_VALUE;
      int whose = observedHold.ended > observedHold.gave ? NOBODY : observedHold.worker;
      if (lost && until < Long.MAX_VALUE) {
        // It was not released; or its release was lost, and is repeated after close().
        until = Math.max(until, disturbed) + longestHoldNanos;
        whose = NOBODY;
      }
      spans.add(new WorkerInterval(whose, observedHold.asked, until));
    }
    acquireTrials.forEach(
        acquireTrial ->
            spans.add(
                new WorkerInterval(acquireTrial.worker, acquireTrial.asked, acquireTrial.over)));
    for (AcquireTrial acquireTrial : doubtful) {
      spans.add(
          new WorkerInterval(NOBODY, acquireTrial.asked, acquireTrial.over + longestHoldNanos));
    }
    spans.sort(Comparator.comparingLong(WorkerInterval::from));
    busy.sort(Comparator.comparingLong(AcquireTrial::over));
    // The two that last longest, of different workers: its own holds do not make a lock busy for a
    // worker.
    WorkerInterval first = new WorkerInterval(NOBODY, 0, Long.MIN_VALUE);
    WorkerInterval second = first;
    int next = 0;
    for (AcquireTrial told : busy) {
      while (next < spans.size() && spans.get(next).from <= told.over) {
        WorkerInterval span = spans.get(next++);
        if (span.until > first.until) {
          second = span.worker == first.worker ? second : first;
          first = span;
        } else if (span.until > second.until && span.worker != first.worker) {
          second = span;
        }
      }
      long until = (first.worker == told.worker ? second : first).until;
      if (sticky && until < told.asked && until + STICKY_NANOS >= told.asked && isCalled(told)) {
        // Its process may keep the grant idle, and has not answered in time.
        unanswered++;
      } else if (until < told.asked) {
        historyViolations.accept(
            new HistoryViolation(
                SafetyRule.HONEST_BUSY,
                name,
                told.over,
                "worker " + told.worker + " was told busy"));
      }
    }
  }

  /** Whether a try has waited for an idle holder, or knew that another try of its process had. */
  private boolean isCalled(AcquireTrial told) {
    if (told.over - told.asked >= CALL_NANOS) {
      calledInVain.put(told.process(), told.over);
      return true;
    }
    Long before = calledInVain.get(told.process());
    return before != null && told.over - before < REMEMBERED_NANOS;
  }

  /** The number of tries answered with busy since an idle holder did not answer in time. */
  long unanswered() {
    return unanswered;
  }

  void checkLeft(Consumer<HistoryViolation> historyViolations) {
    if (left > 0) {
      historyViolations.accept(
          new HistoryViolation(
              SafetyRule.NO_LEAK, name, 0, left + " holders and waiters are in the store"));
    }
  }

  /** The number of holds that began in this time. */
  long holdsBetween(long from, long until) {
    return observedHolds.stream()
        .filter(observedHold -> from <= observedHold.from && observedHold.from < until)
        .count();
  }

  /**
   * Whether a hold was granted to its process before this moment, or passed on within the process
   * from such a hold: tokens then increase by one.
   */
  boolean grantedBefore(int worker, long token, long moment) {
    Map<Long, ObservedHold> ofProcess = new HashMap<>();
    for (ObservedHold observedHold : observedHolds) {
      if (observedHold.token != 0
          && observedHold.worker / HistoryEvent.PROCESS == worker / HistoryEvent.PROCESS) {
        ofProcess.put(observedHold.token, observedHold);
      }
    }
    long first = token;
    ObservedHold observedHold = ofProcess.get(first);
    while (observedHold != null && observedHold.asked >= moment) {
      observedHold = ofProcess.get(--first);
    }
    return observedHold != null;
  }

  /** Whether there was a request since then, or one unanswered at that time. */
  boolean wantedAfter(long nanos) {
    return acquireTrials.stream().anyMatch(acquireTrial -> acquireTrial.over > nanos);
  }

  /** Whether there was a hold since then. */
  boolean heldAfter(long nanos) {
    return observedHolds.stream().anyMatch(observedHold -> observedHold.from > nanos);
  }

  /** Checks that, while the store is unreachable, only the process itself makes a lock busy. */
  void checkOutages(FaultLog faultLog, Consumer<HistoryViolation> historyViolations) {
    for (AcquireTrial told : busy) {
      if (faultLog.isOutage(told.process(), told.asked, told.over) && !isBusyInside(told)) {
        historyViolations.accept(
            new HistoryViolation(
                SafetyRule.OUTAGE,
                name,
                told.over,
                "worker " + told.worker + " was told busy while the store could not be reached"));
      }
    }
  }

  /** Whether another worker of the process held it or waited for it. */
  private boolean isBusyInside(AcquireTrial told) {
    return observedHolds.stream()
            .anyMatch(
                observedHold ->
                    observedHold.worker / HistoryEvent.PROCESS == told.process()
                        && observedHold.asked <= told.over
                        && observedHold.ended >= told.asked)
        || acquireTrials.stream()
            .anyMatch(
                other ->
                    other.worker != told.worker
                        && other.process() == told.process()
                        && other.asked <= told.over
                        && other.over >= told.asked);
  }
}
