package io.mortise.bench;

import io.mortise.bench.subject.Subjects;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** The figures as tables for people. */
final class TextReport {
  private TextReport() {}

  static void print(
      BenchResults benchResults,
      List<PerformanceTargets.PerformanceTarget> performanceTargets,
      PrintWriter out) {
    for (Workload workload : benchResults.workloads()) {
      table(benchResults, workload, out);
    }
    out.printf("%nTargets%n");
    for (PerformanceTargets.PerformanceTarget performanceTarget : performanceTargets) {
      if (!performanceTarget.measured()) {
        continue;
      }
      out.printf(
          Locale.ROOT,
          "  %-11s  %-62s %9s  (%s %s)%n",
          performanceTarget.reached() ? "reached" : "MISSED",
          performanceTarget.what(),
          number(performanceTarget.value()),
          performanceTarget.atMost() ? "at most" : "at least",
          number(performanceTarget.bound()));
    }
    if (!benchResults.notes().isEmpty()) {
      out.printf("%nNotes%n");
      benchResults.notes().forEach(note -> out.println("  " + note));
    }
    out.flush();
  }

  private static void table(BenchResults benchResults, Workload workload, PrintWriter out) {
    Map<Subjects, Map<String, List<Double>>> rows = benchResults.of(workload);
    Set<String> measures = new LinkedHashSet<>();
    rows.values().forEach(row -> measures.addAll(row.keySet()));
    out.printf("%n%s: %s%n", workload.label(), workload.title());
    StringBuilder head = new StringBuilder(String.format("  %-22s", ""));
    measures.forEach(measure -> head.append(String.format("%20s", measure)));
    for (Subjects yardstick : yardsticks(rows.keySet())) {
      head.append(String.format("%20s", "÷ " + yardstick.label()));
    }
    out.println(head);
    rows.forEach(
        (subject, row) -> {
          StringBuilder line = new StringBuilder(String.format("  %-22s", subject.label()));
          for (String measure : measures) {
            line.append(
                String.format("%20s", number(benchResults.median(workload, subject, measure))));
          }
          for (Subjects yardstick : yardsticks(rows.keySet())) {
            String advantage =
                subject.place() == yardstick.place()
                    ? number(workload.advantage(benchResults, subject, yardstick)) + "x"
                    : "";
            line.append(String.format("%20s", advantage));
          }
          out.println(line);
        });
  }

  /** The subjects to compare with: the limit of each store, and Redisson. */
  static List<Subjects> yardsticks(Set<Subjects> present) {
    List<Subjects> chosen = new ArrayList<>();
    for (Subjects candidate :
        List.of(
            Subjects.REENTRANT_FAIR,
            Subjects.JEDIS_PAIR,
            Subjects.BLPOP,
            Subjects.REDISSON,
            Subjects.SQLITE_STATEMENTS,
            Subjects.POSTGRESQL_ROWS,
            Subjects.POSTGRESQL_ADVISORY,
            Subjects.POSTGRESQL_SPRING,
            Subjects.POSTGRESQL_SHEDLOCK,
            Subjects.MARIADB_ROWS,
            Subjects.MARIADB_GET_LOCK,
            Subjects.MARIADB_SPRING,
            Subjects.MARIADB_SHEDLOCK,
            Subjects.MYSQL_ROWS,
            Subjects.MYSQL_GET_LOCK,
            Subjects.MYSQL_SHEDLOCK,
            Subjects.ZOOKEEPER_NODES,
            Subjects.CURATOR,
            Subjects.ETCD_TRANSACTIONS,
            Subjects.JETCD,
            Subjects.NATS_UPDATES,
            Subjects.CONSUL_WRITES,
            Subjects.CONSUL_SESSIONS,
            Subjects.MEMCACHED_ITEMS,
            Subjects.DYNAMODB_UPDATES,
            Subjects.DYNAMODB_SHEDLOCK)) {
      if (present.contains(candidate)) {
        chosen.add(candidate);
      }
    }
    return chosen;
  }

  static String number(double value) {
    if (Double.isNaN(value)) {
      return "–";
    }
    double size = Math.abs(value);
    int digits = size >= 100 || size == 0 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
    return String.format(Locale.ROOT, "%,." + digits + "f", value);
  }
}
