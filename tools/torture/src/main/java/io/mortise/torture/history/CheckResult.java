package io.mortise.torture.history;

import io.mortise.torture.history.HistoryViolation.SafetyRule;
import java.util.List;
import java.util.Map;

/**
 * The result of a check.
 *
 * @param findings the first twenty of each rule
 * @param found the number of findings of each rule
 * @param counts events by kind
 * @param expectedViolations broken promises that the guarantee table allows, by fault
 * @param openLosses updates that an unguarded resource lost under Mortise's lock
 * @param naiveLosses updates lost, and overlaps, under the naive lock
 * @param naiveDelays the number of waits of a naive queue for a dead process
 */
public record CheckResult(
    List<HistoryViolation> findings,
    Map<SafetyRule, Long> found,
    Map<EventKind, Long> counts,
    Map<String, Long> expectedViolations,
    int openLosses,
    int naiveLosses,
    int naiveDelays,
    RunStatistics figures) {
  /**
   * Counts and measurements.
   *
   * @param faults by name
   * @param cycles by kind, of cycles that were only counted
   * @param delays the times that wanted locks stayed taken, by the rule that bounds them
   * @param inOrder the number of waits whose order was judged
   * @param stalledNanos the total time in which the host did not run some process
   * @param unexplained the number of leases lost without a near fault
   */
  public record RunStatistics(
      Map<String, Long> faults,
      Map<String, Long> cycles,
      Map<SafetyRule, DelayStatistics> delays,
      int inOrder,
      long stalledNanos,
      int unexplained) {
    /** The longest delay bounded by a rule, in nanoseconds; 0 if there was none. */
    public long longest(SafetyRule safetyRule) {
      DelayStatistics of = delays.get(safetyRule);
      return of == null ? 0 : of.most();
    }
  }

  /** Whether every promise was kept. */
  public boolean isClean() {
    return found.isEmpty();
  }

  /**
   * Whether both controls broke, as they must under a pause: proof that the tool detects
   * violations.
   */
  public boolean controlsAreLoud() {
    return openLosses > 0 && naiveLosses > 0;
  }

  /** The number of events of a kind. */
  public long count(EventKind eventKind) {
    return counts.getOrDefault(eventKind, 0L);
  }
}
