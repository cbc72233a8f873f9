package io.mortise.torture.history;

import io.mortise.torture.history.HistoryViolation.SafetyRule;
import java.util.List;
import java.util.Map;

/**
 * What a checker found.
 *
 * @param findings the first twenty of each rule
 * @param found how many of each rule
 * @param counts events by kind
 * @param expectedViolations promises broken as the guarantee table says that they may be, by fault
 * @param openLosses updates that an unguarded resource lost under Mortise's lock
 * @param naiveLosses updates lost, and overlaps, under the naive lock
 * @param naiveDelays how often a naive queue waited for one that was dead
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
   * What was counted and measured.
   *
   * @param faults by name
   * @param cycles by kind, of those that were not written down one by one
   * @param delays how long locks stayed shut that somebody wanted, by the rule that bounds it
   * @param inOrder waits whose order was judged
   * @param stalledNanos for how long the host ran nothing of some process, in all
   * @param unexplained leases that were lost though no fault was near
   */
  public record RunStatistics(
      Map<String, Long> faults,
      Map<String, Long> cycles,
      Map<SafetyRule, DelayStatistics> delays,
      int inOrder,
      long stalledNanos,
      int unexplained) {
    /** The longest of those that a rule bounds, in nanoseconds; 0 if there was none. */
    public long longest(SafetyRule safetyRule) {
      DelayStatistics of = delays.get(safetyRule);
      return of == null ? 0 : of.most();
    }
  }

  /** Whether every promise was kept. */
  public boolean isClean() {
    return found.isEmpty();
  }

  /** Whether both controls broke, as they must under a pause: the tool sees what it looks for. */
  public boolean controlsAreLoud() {
    return openLosses > 0 && naiveLosses > 0;
  }

  /** How many events there were of a kind. */
  public long count(EventKind eventKind) {
    return counts.getOrDefault(eventKind, 0L);
  }
}
