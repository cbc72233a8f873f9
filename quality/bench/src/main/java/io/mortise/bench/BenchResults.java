package io.mortise.bench;

import io.mortise.bench.subject.Subjects;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** All measurements: values of each round, by workload, subject and measure. */
final class BenchResults {
  private final Map<Workload, Map<Subjects, Map<String, List<Double>>>> values =
      new EnumMap<>(Workload.class);
  private final List<String> notes = new ArrayList<>();
  private long broken;

  void add(Workload workload, Subjects subject, String measure, double value) {
    values
        .computeIfAbsent(workload, absent -> new LinkedHashMap<>())
        .computeIfAbsent(subject, absent -> new LinkedHashMap<>())
        .computeIfAbsent(measure, absent -> new ArrayList<>())
        .add(value);
  }

  /** Adds a remark for readers of the figures. */
  void note(Workload workload, Subjects subject, String what) {
    String note = workload.label() + ", " + subject.label() + ": " + what;
    if (!notes.contains(note)) {
      notes.add(note);
    }
  }

  /** Counts violations of mutual exclusion. */
  void broken(Workload workload, Subjects subject, long times) {
    if (times > 0) {
      broken += times;
      note(workload, subject, "MUTUAL EXCLUSION BROKEN " + times + " times");
    }
  }

  long broken() {
    return broken;
  }

  List<String> notes() {
    return notes;
  }

  Set<Workload> workloads() {
    return values.keySet();
  }

  Map<Subjects, Map<String, List<Double>>> of(Workload workload) {
    return values.getOrDefault(workload, Map.of());
  }

  /** The median of the rounds; NaN if it was not measured. */
  double median(Workload workload, Subjects subject, String measure) {
    return median(of(workload).getOrDefault(subject, Map.of()).getOrDefault(measure, List.of()));
  }

  /** The largest of the rounds; NaN if it was not measured. */
  double largest(Workload workload, Subjects subject, String measure) {
    return of(workload).getOrDefault(subject, Map.of()).getOrDefault(measure, List.of()).stream()
        .mapToDouble(Double::doubleValue)
        .max()
        .orElse(Double.NaN);
  }

  static double median(List<Double> rounds) {
    if (rounds.isEmpty()) {
      return Double.NaN;
    }
    double[] sorted = rounds.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1
        ? sorted[middle]
        : Arrays.stream(sorted, middle - 1, middle + 1).average().orElseThrow();
  }
}
