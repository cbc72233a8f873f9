package io.mortise.torture.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.torture.run.Torture.Outcome;
import io.mortise.torture.run.Torture.Result;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Short runs: each promise is kept, and what must break breaks. */
@Timeout(170)
class TortureTest {
  // Busy machines stop processes for a while of their own accord.
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  @TempDir private Path folder;

  private Result run(String server, int seconds, Set<Fault> faults) throws Exception {
    long seed = new Random().nextInt(Integer.MAX_VALUE);
    System.out.println("Torture of " + server + " with seed " + seed);
    try (Arena arena = Arena.start(server, folder).orElseThrow()) {
      Plan plan =
          new Plan(
              Duration.ofSeconds(seconds), Duration.ofSeconds(2), 2, 2, 2, faults, PATIENCE, seed);
      Result result = new Torture(plan, arena, folder, System.out::println).run();
      Report report = new Report(result, "mortise torture --seed " + seed);
      report.lines().forEach(System.out::println);
      assertThat(report.html()).contains("<svg", "seed " + seed).doesNotContain("{{");
      return result;
    }
  }

  @Test
  void givenFaultsOfClientAndServer_thenEveryPromiseIsKept_andBothControlsAreLoud()
      throws Exception {
    Result result =
        run(
            "redis",
            20,
            EnumSet.of(
                Fault.PAUSE, Fault.LOST_REPLIES, Fault.RESET, Fault.FORGET, Fault.PUSH_LOSS));
    assertThat(result.verdict().findings()).isEmpty();
    assertThat(result.outcome()).isEqualTo(Outcome.KEPT);
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
