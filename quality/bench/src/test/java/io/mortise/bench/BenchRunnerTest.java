package io.mortise.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.bench.subject.StoreUrls;
import io.mortise.bench.subject.Subjects;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BenchRunnerTest {
  private static final List<Subjects> IN_MEMORY =
      List.of(
          Subjects.REENTRANT_FAIR,
          Subjects.MORTISE_MEM,
          Subjects.MORTISE_MEM_FAIR,
          Subjects.MORTISE_MEM_LISTENER,
          Subjects.MORTISE_MEM_METERS,
          Subjects.MORTISE_MEM_LOCKED,
          Subjects.MORTISE_MEM_LOCKED_METERS,
          Subjects.MORTISE_MEM_LOCKED_OBSERVED);

  @TempDir Path folder;

  @Test
  void givenLocksInMemory_whenBenchRuns_thenItReportsFiguresTargetsAndNothingBroken()
      throws Exception {
    StringWriter text = new StringWriter();
    BenchResults benchResults =
        new BenchRunner(
                BenchPlan.SMOKE,
                new StoreUrls(Map.of()),
                IN_MEMORY,
                EnumSet.of(
                    Workload.REENTRY,
                    Workload.PAIR,
                    Workload.GROUP_10,
                    Workload.CALL,
                    Workload.THREADS_8),
                new PrintWriter(new StringWriter()))
            .run(folder);
    List<PerformanceTargets.PerformanceTarget> performanceTargets =
        PerformanceTargets.of(benchResults);
    TextReport.print(benchResults, performanceTargets, new PrintWriter(text));
    JsonReport.write(folder.resolve("results.json"), Map.of(), benchResults, performanceTargets);

    assertThat(benchResults.broken()).isZero();
    assertThat(benchResults.notes()).isEmpty();
    assertThat(benchResults.median(Workload.THREADS_8, Subjects.MORTISE_MEM, "acq/s")).isPositive();
    assertThat(benchResults.median(Workload.GROUP_10, Subjects.MORTISE_MEM, "÷ one")).isPositive();
    assertThat(performanceTargets.stream().filter(PerformanceTargets.PerformanceTarget::measured))
        .hasSize(7);
    assertThat(text.toString()).contains("threads-8", "mortise-mem-fair", "Targets");
    assertThat(folder.resolve("results.json")).content().contains("\"threads-8\"");
    assertThat(ComparisonChart.of(benchResults)).startsWith("<svg").endsWith("</svg>\n");
  }

  @Test
  void givenALockThatDoesNotLock_whenThreadsMeet_thenTheCellShowsLostUpdates() throws Exception {
    GuardedCell guardedCell = GuardedCell.here();
    long broken = 0;
    long total = 0;
    // Two threads on one busy processor may run for a while without contention.
    for (int i = 0; i < 50 && broken == 0; i++) {
      LockLoad lockLoad =
          new LockLoad(new NoLock(), 2, number -> "open door", guardedCell, 1, 1_000);
      total += lockLoad.run(System.nanoTime(), 200).total();
      broken = guardedCell.broken(total);
    }

    assertThat(total).isPositive();
    assertThat(broken).isPositive();
  }

  @Test
  void givenATally_whenItTravelsToAnotherProcess_thenItSaysTheSame() {
    LoadCounts loadCounts = new LoadCounts(1_000, 5_000_000);
    loadCounts.count(2_000_000, 1_000, true);
    loadCounts.fail("broken pipe");

    LoadCounts arrived = LoadCounts.decode(loadCounts.encode());

    assertThat(arrived.total()).isEqualTo(1);
    assertThat(arrived.perSecond()).isEqualTo(loadCounts.perSecond());
    assertThat(arrived.longestTakeMillis()).isEqualTo(loadCounts.longestTakeMillis());
    assertThat(arrived.firstFailure()).isEqualTo("broken pipe");
  }

  private static final class NoLock implements io.mortise.bench.subject.Subject {
    @Override
    public LockHandle lockHandle(String lock) {
      return new LockHandle() {
        @Override
        public boolean take(long waitMillis) {
          return true;
        }

        @Override
        public void release() {}
      };
    }

    @Override
    public void close() {}
  }
}
