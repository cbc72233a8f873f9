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
    long seed = Seed.draw(run).value();
    System.out.println("Torture of " + server + " with seed " + seed);
    Path place = Files.createDirectory(folder.resolve("run" + run));
    try (Arena arena = Arena.start(server, place).orElseThrow()) {
      Plan plan =
          new Plan(
              Duration.ofSeconds(seconds), Duration.ofSeconds(2), 2, 2, 2, faults, PATIENCE, seed);
      Result result = new Torture(plan, arena, place, System.out::println).run();
      Report report = new Report(result, "mortise torture --seed " + seed);
      report.lines().forEach(System.out::println);
      assertThat(report.html()).contains("<svg", "seed " + seed).doesNotContain("{{");
      return result;
    }
  }

  @Test
  void givenFaultsOfClientAndServer_thenEveryPromiseIsKept_andBothControlsAreLoud()
      throws Exception {
    Outcome outcome = Outcome.VOID;
    // What has to break breaks by chance: on a busy machine the naive lock may get through.
    for (int run = 1; run <= 3 && outcome == Outcome.VOID; run++) {
      Result result =
          run(
              run,
              "redis",
              20,
              EnumSet.of(
                  Fault.PAUSE, Fault.LOST_REPLIES, Fault.RESET, Fault.FORGET, Fault.PUSH_LOSS));
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
                    Set.of(Fault.KILL),
                    PATIENCE,
                    1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("pause");
  }
}
