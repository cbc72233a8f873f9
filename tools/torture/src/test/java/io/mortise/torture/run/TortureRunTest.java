package io.mortise.torture.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.testkit.Seed;
import io.mortise.torture.run.TortureRun.TortureOutcome;
import io.mortise.torture.run.TortureRun.TortureResult;
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

/** Short runs: each promise is kept, and the controls break. */
@Timeout(300)
class TortureRunTest {
  // Busy machines pause processes for a while by themselves.
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  @TempDir private Path folder;

  private TortureResult run(int run, String server, int seconds, Set<InjectedFault> injectedFaults)
      throws Exception {
    Path place = Files.createDirectory(folder.resolve("run" + run));
    try (TortureEnvironment tortureEnvironment =
        TortureEnvironment.start(server, place, injectedFaults).orElseThrow()) {
      return run(run, tortureEnvironment, place, seconds, injectedFaults);
    }
  }

  private static TortureResult run(
      int run,
      TortureEnvironment tortureEnvironment,
      Path place,
      int seconds,
      Set<InjectedFault> injectedFaults)
      throws Exception {
    long seed = Seed.draw(run).value();
    System.out.println("Torture of " + tortureEnvironment.name() + " with seed " + seed);
    TorturePlan torturePlan =
        new TorturePlan(
            Duration.ofSeconds(seconds),
            Duration.ofSeconds(2),
            2,
            2,
            2,
            4,
            injectedFaults,
            PATIENCE,
            seed);
    TortureResult tortureResult =
        new TortureRun(torturePlan, tortureEnvironment, place, System.out::println).run();
    TortureReport tortureReport =
        new TortureReport(tortureResult, "mortise torture --seed " + seed);
    tortureReport.lines().forEach(System.out::println);
    assertThat(tortureReport.html()).contains("seed " + seed).doesNotContain("{{");
    RunTotals runTotals = new RunTotals();
    runTotals.add(tortureResult);
    runTotals.add(tortureResult);
    runTotals.lines().forEach(System.out::println);
    assertThat(String.join("\n", runTotals.lines()))
        .contains(
            String.format(Locale.ROOT, "%,d", 2 * tortureResult.remote()),
            String.format(Locale.ROOT, "%,d", 2 * tortureResult.local()),
            "pause " + 2 * tortureResult.verdict().figures().faults().getOrDefault("pause", 0L));
    return tortureResult;
  }

  /** Slow: {@code -Dmortise.torture=mysql,h2}, or {@code all}, with every available fault. */
  @Test
  @Timeout(7_200)
  void givenServersThatWereAskedFor_whenAllGoesWrong_thenEveryPromiseIsKept() throws Exception {
    String asked = System.getProperty("mortise.torture", "");
    List<String> servers =
        asked.isEmpty()
            ? List.of()
            : asked.equals("all") ? TortureEnvironment.OWN : List.of(asked.split(",", -1));
    int run = 10;
    for (String server : servers) {
      Path place = Files.createDirectory(folder.resolve("run" + ++run));
      Optional<TortureEnvironment> there =
          TortureEnvironment.start(server, place, EnumSet.allOf(InjectedFault.class));
      if (there.isEmpty()) {
        System.out.println(server + " is not on this machine.");
        continue;
      }
      try (TortureEnvironment tortureEnvironment = there.get()) {
        int seconds = Integer.getInteger("mortise.torture.seconds", 120);
        TortureResult tortureResult =
            run(run, tortureEnvironment, place, seconds, tortureEnvironment.faults());
        assertThat(tortureResult.verdict().findings()).as(server).isEmpty();
        assertThat(tortureResult.outcome()).as(server).isEqualTo(TortureOutcome.KEPT);
      }
    }
  }

  @Test
  void givenFaultsOfClientAndServer_thenEveryPromiseIsKept_andTheControlsAreLoud()
      throws Exception {
    TortureOutcome tortureOutcome = TortureOutcome.VOID;
    // The controls break by chance: on a busy machine the naive lock may survive.
    for (int run = 1; run <= 3 && tortureOutcome == TortureOutcome.VOID; run++) {
      TortureResult tortureResult =
          run(
              run,
              "redis",
              25,
              EnumSet.of(
                  InjectedFault.PAUSE,
                  InjectedFault.KILL_WAITER,
                  InjectedFault.LOST_REPLIES,
                  InjectedFault.RESET,
                  InjectedFault.FORGET,
                  InjectedFault.PUSH_LOSS));
      assertThat(tortureResult.verdict().findings()).isEmpty();
      assertThat(tortureResult.retaken()).as("idle grants taken again").isPositive();
      tortureOutcome = tortureResult.outcome();
    }
    assertThat(tortureOutcome).isEqualTo(TortureOutcome.KEPT);
  }

  @Test
  void givenPlanWithoutPauses_thenItIsRefused_sinceNothingWouldBeShown() {
    assertThatThrownBy(
            () ->
                new TorturePlan(
                    Duration.ofSeconds(1),
                    Duration.ofSeconds(2),
                    2,
                    1,
                    1,
                    0,
                    Set.of(InjectedFault.KILL),
                    PATIENCE,
                    1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("pause");
  }
}
