package io.mortise.torture.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.testkit.Seed;
import io.mortise.torture.run.Torture.Outcome;
import io.mortise.torture.run.Torture.Result;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Short runs: each promise is kept, and what must break breaks. */
@Timeout(300)
class TortureTest {
  // Busy machines stop processes for a while of their own accord.
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  @TempDir private Path folder;

  private Result run(int run, String server, int seconds, Set<Fault> faults) throws Exception {
    Path place = Files.createDirectory(folder.resolve("run" + run));
    try (Arena arena = Arena.start(server, place, faults).orElseThrow()) {
      return run(run, arena, place, seconds, faults);
    }
  }

  private static Result run(int run, Arena arena, Path place, int seconds, Set<Fault> faults)
      throws Exception {
    long seed = Seed.draw(run).value();
    System.out.println("Torture of " + arena.name() + " with seed " + seed);
    Plan plan =
        new Plan(
            Duration.ofSeconds(seconds), Duration.ofSeconds(2), 2, 2, 2, 4, faults, PATIENCE, seed);
    Result result = new Torture(plan, arena, place, System.out::println).run();
    Report report = new Report(result, "mortise torture --seed " + seed);
    report.lines().forEach(System.out::println);
    assertThat(report.html()).contains("<svg", "seed " + seed).doesNotContain("{{");
    Totals totals = new Totals();
    totals.add(result);
    totals.add(result);
    totals.lines().forEach(System.out::println);
    assertThat(String.join("\n", totals.lines()))
        .contains(
            String.format(Locale.ROOT, "%,d", 2 * result.remote()),
            String.format(Locale.ROOT, "%,d", 2 * result.local()),
            "pause " + 2 * result.verdict().figures().faults().getOrDefault("pause", 0L));
    return result;
  }

  /** Slow: {@code -Dmortise.torture=mysql,h2}, or {@code all}, and every fault that there is. */
  @Test
  @Timeout(7_200)
  void givenServersThatWereAskedFor_whenAllGoesWrong_thenEveryPromiseIsKept() throws Exception {
    String asked = System.getProperty("mortise.torture", "");
    List<String> servers =
        asked.isEmpty()
            ? List.of()
            : asked.equals("all") ? Arena.OWN : List.of(asked.split(",", -1));
    int run = 10;
    for (String server : servers) {
      Path place = Files.createDirectory(folder.resolve("run" + ++run));
      Optional<Arena> there = Arena.start(server, place, EnumSet.allOf(Fault.class));
      if (there.isEmpty()) {
        System.out.println(server + " is not on this machine.");
        continue;
      }
      try (Arena arena = there.get()) {
        int seconds = Integer.getInteger("mortise.torture.seconds", 120);
        Result result = run(run, arena, place, seconds, arena.faults());
        assertThat(result.verdict().findings()).as(server).isEmpty();
        assertThat(result.outcome()).as(server).isEqualTo(Outcome.KEPT);
      }
    }
  }

  @Test
  void givenFaultsOfClientAndServer_thenEveryPromiseIsKept_andTheControlsAreLoud()
      throws Exception {
    Outcome outcome = Outcome.VOID;
    // What has to break breaks by chance: on a busy machine the naive lock may get through.
    for (int run = 1; run <= 3 && outcome == Outcome.VOID; run++) {
      Result result =
          run(
              run,
              "redis",
              25,
              EnumSet.of(
                  Fault.PAUSE,
                  Fault.KILL_WAITER,
                  Fault.LOST_REPLIES,
                  Fault.RESET,
                  Fault.FORGET,
                  Fault.PUSH_LOSS));
      assertThat(result.verdict().findings()).isEmpty();
      outcome = result.outcome();
    }
    assertThat(outcome).isEqualTo(Outcome.KEPT);
  }

  @Test
  void givenPlanWithoutPauses_thenItIsRefused_sinceNothingWouldBeShown() {
    assertThatThrownBy(
            () ->
                new Plan(
                    Duration.ofSeconds(1),
                    Duration.ofSeconds(2),
                    2,
                    1,
                    1,
                    0,
                    Set.of(Fault.KILL),
                    PATIENCE,
                    1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("pause");
  }
}
