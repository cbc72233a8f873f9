package io.mortise.torture.run;

import io.mortise.torture.run.TortureRun.TortureOutcome;
import io.mortise.torture.run.TortureRun.TortureResult;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Totals of several runs. For one thread. */
public final class RunTotals {
  private final List<String> rows = new ArrayList<>();
  private final Map<String, Long> faults = new TreeMap<>();
  private final Map<TortureOutcome, Integer> outcomes = new EnumMap<>(TortureOutcome.class);
  private long struck;
  private long remote;
  private long local;
  private long broken;
  private long expectedViolations;

  /** Adds a run. */
  public void add(TortureResult tortureResult) {
    long found = sum(tortureResult.verdict().found());
    long said = sum(tortureResult.verdict().expectedViolations());
    rows.add(
        row(
            tortureResult.store(),
            tortureResult.faults(),
            tortureResult.remote(),
            tortureResult.local(),
            found,
            said,
            tortureResult.outcome().name()));
    tortureResult
        .verdict()
        .figures()
        .faults()
        .forEach((fault, times) -> faults.merge(fault, times, Long::sum));
    outcomes.merge(tortureResult.outcome(), 1, Integer::sum);
    struck += tortureResult.faults();
    remote += tortureResult.remote();
    local += tortureResult.local();
    broken += found;
    expectedViolations += said;
  }

  private static long sum(Map<?, Long> counts) {
    return counts.values().stream().mapToLong(Long::longValue).sum();
  }

  /** Lines for a terminal: the runs, the sums, and the number of injections of each fault. */
  public List<String> lines() {
    List<String> lines = new ArrayList<>();
    lines.add(
        String.format(
            Locale.ROOT,
            "  %-15s %8s %14s %14s %8s %9s  %s",
            "store",
            "faults",
            "remote holds",
            "local passes",
            "broken",
            "foretold",
            "ended"));
    lines.addAll(rows);
    String ended =
        outcomes.entrySet().stream()
            .map(entry -> entry.getValue() + " " + entry.getKey())
            .collect(Collectors.joining(", "));
    lines.add(row("all", struck, remote, local, broken, expectedViolations, ended));
    lines.add(
        String.format(Locale.ROOT, "  %,d kinds of faults: ", faults.size())
            + faults.entrySet().stream()
                .map(entry -> entry.getKey() + " " + entry.getValue())
                .collect(Collectors.joining(", ")));
    return lines;
  }

  private static String row(
      String store,
      long faults,
      long remote,
      long local,
      long broken,
      long expectedViolations,
      String ended) {
    return String.format(
        Locale.ROOT,
        "  %-15s %,8d %,14d %,14d %,8d %,9d  %s",
        store,
        faults,
        remote,
        local,
        broken,
        expectedViolations,
        ended);
  }
}
