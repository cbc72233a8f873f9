package io.mortise.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.bench.subject.Stores;
import io.mortise.bench.subject.Subjects;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BenchTest {
  private static final List<Subjects> IN_MEMORY =
      List.of(Subjects.REENTRANT_FAIR, Subjects.MORTISE_MEM, Subjects.MORTISE_MEM_FAIR);

  @TempDir Path folder;

  @Test
  void givenLocksInMemory_whenBenchRuns_thenItReportsFiguresTargetsAndNothingBroken()
      throws Exception {
    StringWriter text = new StringWriter();
    Figures figures =
        new Bench(
                Plan.SMOKE,
                new Stores(Map.of()),
                IN_MEMORY,
                EnumSet.of(Workload.REENTRY, Workload.PAIR, Workload.THREADS_8),
                new PrintWriter(new StringWriter()))
            .run(folder);
    List<Targets.Target> targets = Targets.of(figures);
    TextReport.print(figures, targets, new PrintWriter(text));
    JsonReport.write(folder.resolve("results.json"), Map.of(), figures, targets);

    assertThat(figures.broken()).isZero();
    assertThat(figures.notes()).isEmpty();
    assertThat(figures.median(Workload.THREADS_8, Subjects.MORTISE_MEM, "acq/s")).isPositive();
    assertThat(targets.stream().filter(Targets.Target::measured)).hasSize(4);
    assertThat(text.toString()).contains("threads-8", "mortise-mem-fair", "Targets");
    assertThat(folder.resolve("results.json")).content().contains("\"threads-8\"");
    assertThat(Picture.of(figures)).startsWith("<svg").endsWith("</svg>\n");
  }

  @Test
  void givenALockThatDoesNotLock_whenThreadsMeet_thenTheCellShowsLostUpdates() throws Exception {
    Cell cell = Cell.here();
    long broken = 0;
    long total = 0;
    // Two threads on one busy processor may not meet for a while.
    for (int i = 0; i < 50 && broken == 0; i++) {
      Race race = new Race(new NoLock(), 2, number -> "open door", cell, 1, 1_000);
      total += race.run(System.nanoTime(), 200).total();
      broken = cell.broken(total);
    }

    assertThat(total).isPositive();
    assertThat(broken).isPositive();
  }

  @Test
  void givenATally_whenItTravelsToAnotherProcess_thenItSaysTheSame() {
    Tally tally = new Tally(1_000, 5_000_000);
    tally.count(2_000_000, 1_000, true);
    tally.fail("broken pipe");

    Tally arrived = Tally.decode(tally.encode());

    assertThat(arrived.total()).isEqualTo(1);
    assertThat(arrived.perSecond()).isEqualTo(tally.perSecond());
    assertThat(arrived.longestTakeMillis()).isEqualTo(tally.longestTakeMillis());
    assertThat(arrived.firstFailure()).isEqualTo("broken pipe");
  }

  private static final class NoLock implements io.mortise.bench.subject.Subject {
    @Override
    public Grip grip(String lock) {
      return new Grip() {
        @Override
        public boolean take(long waitMillis) {
          return true;
        }

        @Override
        public void give() {}
      };
    }

    @Override
    public void close() {}
  }
}
