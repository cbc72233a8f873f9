package io.mortise.torture.history;

import io.mortise.torture.history.Finding.Rule;
import java.util.List;
import java.util.Map;

/**
 * What a checker found.
 *
 * @param findings the first twenty of each rule
 * @param found how many of each rule
 * @param counts events by kind
 * @param foretold overlaps after the store had forgotten, as it is said that there may be
 * @param openLosses updates that an unguarded resource lost under Mortise's lock
 * @param naiveLosses updates lost, and overlaps, under the naive lock
 * @param slowestCrashNanos the longest time from a kill until a waiter held
 */
public record Verdict(
    List<Finding> findings,
    Map<Rule, Long> found,
    Map<Kind, Long> counts,
    int foretold,
    int openLosses,
    int naiveLosses,
    long slowestCrashNanos) {
  /** Whether every promise was kept. */
  public boolean isClean() {
    return found.isEmpty();
  }

  /** Whether both controls broke, as they must under a pause: the tool sees what it looks for. */
  public boolean controlsAreLoud() {
    return openLosses > 0 && naiveLosses > 0;
  }

  /** How many events there were of a kind. */
  public long count(Kind kind) {
    return counts.getOrDefault(kind, 0L);
  }
}
