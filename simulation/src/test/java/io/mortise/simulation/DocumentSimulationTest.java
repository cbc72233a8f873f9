package io.mortise.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.simulation.Scenario.RuleSet;
import io.mortise.simulation.Simulation.Outcome;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The worlds of {@link SimulationTest} over stores of documents: the kit as each process runs it,
 * before a server that replaces one document at a time. Each third server tells the time. The
 * others execute a write long after its caller gave it up, and the hosts' times of day differ by
 * hours. Requests and answers overtake each other, notifications get lost, and processes sweep at
 * the same time.
 *
 * <p>{@code -Dmortise.sim.documents=100000} runs more worlds, {@code -Dmortise.sim.from=N} others,
 * and {@code -Dmortise.sim.seed=N} one alone, with its trace.
 */
class DocumentSimulationTest {
  private static final long SEEDS = Long.getLong("mortise.sim.documents", 200);
  private static final long FROM = Long.getLong("mortise.sim.from", 0);

  @Test
  @Timeout(value = 4, unit = TimeUnit.HOURS)
  void givenAnySeed_whenFaultsStrike_thenEveryPropertyHolds() {
    Assumptions.assumeTrue(Long.getLong("mortise.sim.seed") == null, "one seed is run alone");
    LongAdder grants = new LongAdder();
    LongAdder losses = new LongAdder();

    Outcome broken =
        LongStream.range(FROM, FROM + SEEDS)
            .parallel()
            .mapToObj(DocumentSimulationTest::run)
            .peek(outcome -> grants.add(outcome.stats().grants()))
            .peek(outcome -> losses.add(outcome.stats().losses()))
            .filter(outcome -> !outcome.violations().isEmpty())
            .findAny()
            .orElse(null);

    assertThat(broken).withFailMessage(() -> SimulationReport.of(broken)).isNull();
    // Worlds in which nothing happens prove nothing.
    assertThat(grants.sum()).isGreaterThan(20 * SEEDS);
    assertThat(losses.sum()).isGreaterThan(SEEDS / 2);
  }

  private static Outcome run(long seed) {
    return Simulation.run(Scenario.ofDocuments(seed, RuleSet.ALL));
  }

  @Test
  void givenOneSeed_whenItIsRunTwice_thenItGoesTheSameWay() {
    for (long seed = 0; seed < 20; seed++) {
      Scenario scenario = Scenario.ofDocuments(seed, RuleSet.ALL).withTrace();

      assertThat(Simulation.run(scenario).trace()).isEqualTo(Simulation.run(scenario).trace());
    }
  }

  @Test
  @SuppressWarnings("SystemOut") // asked for by a person, who wants to read it
  void givenASeedOnTheCommandLine_whenItIsRun_thenItsTraceIsShown() {
    Long seed = Long.getLong("mortise.sim.seed");
    Assumptions.assumeTrue(seed != null, "no -Dmortise.sim.seed");
    Scenario scenario = Scenario.ofDocuments(seed, RuleSet.ALL);
    String left = System.getProperty("mortise.sim.without", "");
    for (SimFault simFault : SimFault.values()) {
      scenario =
          List.of(left.split(",", -1)).contains(simFault.name())
              ? scenario.without(simFault)
              : scenario;
    }

    Outcome outcome = Simulation.run(scenario.withTrace());

    outcome.trace().forEach(System.out::println);
    assertThat(outcome.violations()).isEmpty();
  }

  /** The positive control: each flaw breaks one of the properties that stand for it. */
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
