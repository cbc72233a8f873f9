package io.mortise.bench;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The figures for programs, with every round. */
final class JsonReport {
  private JsonReport() {}

  static void write(
      Path file,
      Map<String, Object> circumstances,
      BenchResults benchResults,
      List<PerformanceTargets.PerformanceTarget> performanceTargets)
      throws IOException {
    Map<String, Object> report = new LinkedHashMap<>(circumstances);
    Map<String, Object> workloads = new LinkedHashMap<>();
    for (Workload workload : benchResults.workloads()) {
      Map<String, Object> subjects = new LinkedHashMap<>();
      benchResults
          .of(workload)
          .forEach(
              (subject, row) -> {
                Map<String, Object> measures = new LinkedHashMap<>();
                row.forEach(
                    (measure, rounds) ->
                        measures.put(
                            measure,
                            Map.of("median", BenchResults.median(rounds), "rounds", rounds)));
                subjects.put(subject.label(), measures);
              });
      workloads.put(workload.label(), subjects);
    }
    report.put("workloads", workloads);
    List<Map<String, Object>> reached = new ArrayList<>();
    for (PerformanceTargets.PerformanceTarget performanceTarget : performanceTargets) {
      if (performanceTarget.measured()) {
        Map<String, Object> entry = new LinkedHashMap<>();
        entry.put("what", performanceTarget.what());
        entry.put("value", performanceTarget.value());
        entry.put(performanceTarget.atMost() ? "atMost" : "atLeast", performanceTarget.bound());
        entry.put("reached", performanceTarget.reached());
        reached.add(entry);
      }
    }
    report.put("targets", reached);
    report.put("notes", benchResults.notes());
    report.put("broken", benchResults.broken());
    Files.writeString(
        file, JSON.std.with(JSON.Feature.PRETTY_PRINT_OUTPUT).asString(report) + "\n");
  }
}
