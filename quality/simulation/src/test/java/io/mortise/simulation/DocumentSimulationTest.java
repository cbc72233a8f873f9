package io.mortise.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.simulation.Scenario.RuleSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The worlds of {@link SimulationTest} over stores of documents: each process runs the kit over a
 * server that replaces one document at a time. Each third server has a clock. The others may
 * execute a write long after its caller gave it up, and the hosts' times of day differ by hours.
 * Requests and answers overtake each other, notifications get lost, and processes sweep at the same
 * time.
 *
 * <p>{@code -Dmortise.sim.documents=100000} runs more worlds, {@code -Dmortise.sim.from=N} others,
 * and {@code -Dmortise.sim.seed=N} one alone, with its trace.
 */
class DocumentSimulationTest {
  private static final SeededWorlds WORLDS =
      SeededWorlds.ofCommandLine(
          "mortise.sim.documents", 200, seed -> Scenario.ofDocuments(seed, RuleSet.ALL));

  @Test
  @Timeout(value = 4, unit = TimeUnit.HOURS)
  void givenAnySeed_whenFaultsStrike_thenEveryPropertyHolds() {
    WORLDS.assertProperties();
  }

  @Test
  void givenOneSeed_whenItIsRunTwice_thenItGoesTheSameWay() {
    WORLDS.assertRepeatable(20);
  }

  @Test
  void givenASeedOnTheCommandLine_whenItIsRun_thenItsTraceIsShown() {
    WORLDS.showOne();
  }

  /** The positive control: each flaw breaks one of its properties. */
  @Tag("extended")
  @Timeout(300)
  @ParameterizedTest(name = "{0}")
  @EnumSource
  void givenAFlaw_whenWorldsAreRun_thenItsPropertySaysSo(DocumentFlaw flaw) {
    assertThat(
            isCaught(flaw, flaw.knownSeed)
                || LongStream.range(0, 30_000).parallel().anyMatch(seed -> isCaught(flaw, seed)))
        .as("'%s' is caught by %s", flaw, flaw.caughtBy())
        .isTrue();
  }

  private static boolean isCaught(DocumentFlaw flaw, long seed) {
    return Simulation.run(Scenario.ofDocuments(seed, RuleSet.ALL.with(flaw))).violations().stream()
        .anyMatch(violation -> flaw.caughtBy().contains(violation.rule()));
  }
}
