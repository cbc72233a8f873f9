package io.mortise.bench;

import io.mortise.bench.subject.Subjects;
import io.mortise.bench.subject.Subjects.SubjectStore;
import io.mortise.bench.subject.Subjects.SubjectTrait;
import java.util.List;
import java.util.Locale;

/**
 * The figures on Redis as a chart: each subject's ratio to Redisson, on a logarithmic scale, with a
 * group of bars for each workload.
 */
final class ComparisonChart {
  private static final List<Workload> SHOWN =
      List.of(
          Workload.PAIR,
          Workload.APART_64,
          Workload.THREADS_8,
          Workload.PROCESSES,
          Workload.SIGNAL);
  private static final int LABELS = 170;
  private static final int WIDTH = 760;
  private static final int BAR = 15;

  /** Pixels per power of ten; half of one lies to the left of Redisson. */
  private static final double DECADE = 190;

  private static final double ZERO = LABELS + DECADE / 2;

  private final BenchResults benchResults;
  private final StringBuilder svg = new StringBuilder();
  private int y = 46;

  private ComparisonChart(BenchResults benchResults) {
    this.benchResults = benchResults;
  }

  static String of(BenchResults benchResults) {
    return new ComparisonChart(benchResults).draw();
  }

  private String draw() {
    text(10, 20, "bold", "How many times better than Redisson, same Redis, same run (logarithmic)");
    for (Workload workload : SHOWN) {
      group(workload);
    }
    return String.format(
            Locale.ROOT,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"11\">%n"
                + "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>%n",
            WIDTH,
            y + 6)
        + svg
        + String.format(
            Locale.ROOT,
            "<line x1=\"%.0f\" y1=\"32\" x2=\"%.0f\" y2=\"%d\" stroke=\"#555\"/>%n</svg>%n",
            ZERO,
            ZERO,
            y);
  }

  private void group(Workload workload) {
    List<Subjects> bars =
        benchResults.of(workload).keySet().stream()
            .filter(s -> s.place() == SubjectStore.REDIS && s != Subjects.REDISSON)
            .filter(s -> workload.advantage(benchResults, s, Subjects.REDISSON) > 0)
            .sorted()
            .toList();
    if (bars.isEmpty()) {
      return;
    }
    text(10, y, "bold", workload.title());
    y += 6;
    for (Subjects subject : bars) {
      bar(subject, workload.advantage(benchResults, subject, Subjects.REDISSON));
    }
    y += 20;
  }

  private void bar(Subjects subject, double times) {
    double length = DECADE * Math.max(-0.5, Math.min(2.5, Math.log10(times)));
    svg.append(
        String.format(
            Locale.ROOT,
            "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>%n",
            Math.min(ZERO, ZERO + length),
            y,
            Math.max(1, Math.abs(length)),
            BAR - 4,
            subject.is(SubjectTrait.OWN) ? "#1b6e53" : "#a9b4bf"));
    text(20, y + 10, "normal", subject.label());
    text(
        (int) (Math.max(ZERO, ZERO + length) + 5),
        y + 10,
        "normal",
        TextReport.number(times) + "x");
    y += BAR;
  }

  private void text(int x, int at, String weight, String what) {
    svg.append(
        String.format(
            Locale.ROOT,
            "<text x=\"%d\" y=\"%d\" font-weight=\"%s\">%s</text>%n",
            x,
            at,
            weight,
            what));
  }
}
