package io.mortise.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.simulation.Simulation.Outcome;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Runs whole worlds in virtual time: real engines, each with a drifting clock, over the lock table,
 * through connections that lose, delay, copy and reorder; processes that stop, sleep and die; a
 * store that stops, vanishes and forgets. Each world follows from its seed.
 *
 * <p><b>What is judged.</b> Holders never believe at the same time in what excludes each other, and
 * no belief outlives its session in the store; tokens rise and are unique; a resource that compares
 * tokens never turns away a holder; at-least times are kept; local hand-off is bounded once another
 * process waits; a lock that is free is granted to a waiter within a bound, pushes or not; in the
 * end neither an engine nor the table keeps anything. Where a fault takes away an assumption (see
 * {@link SimFault#BREAK_BELIEF}), only what does not rest on it is judged.
 *
 * <p><b>What is not.</b> One thread runs all, so events are atomic: races between threads of one
 * process, parking and waking, and what the blocking forms do are left to the stress test beside
 * this one. The wire formats and scripts of real stores have the store contracts.
 *
 * <p>{@code -Dmortise.sim.seeds=1000000} runs more worlds, {@code -Dmortise.sim.from=N} others, and
 * {@code -Dmortise.sim.seed=N} one alone, with its trace.
 */
class SimulationTest {
  private static final long SEEDS = Long.getLong("mortise.sim.seeds", 3_000);
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
            .mapToObj(seed -> run(Scenario.of(seed)))
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

  @Test
  void givenOneSeed_whenItIsRunTwice_thenItGoesTheSameWay() {
    for (long seed = 0; seed < 50; seed++) {
      Scenario scenario = Scenario.of(seed).withTrace();

      assertThat(run(scenario).trace()).isEqualTo(run(scenario).trace());
    }
  }

  @Test
  @SuppressWarnings("SystemOut") // asked for by a person, who wants to read it
  void givenASeedOnTheCommandLine_whenItIsRun_thenItsTraceIsShown() {
    Long seed = Long.getLong("mortise.sim.seed");
    Assumptions.assumeTrue(seed != null, "no -Dmortise.sim.seed");
    Scenario scenario = Scenario.of(seed);
    String left = System.getProperty("mortise.sim.without", "");
    for (SimFault simFault : SimFault.values()) {
      scenario =
          List.of(left.split(",", -1)).contains(simFault.name())
              ? scenario.without(simFault)
              : scenario;
    }

    Outcome outcome = run(scenario.withTrace());

    outcome.trace().forEach(System.out::println);
    assertThat(outcome.violations()).isEmpty();
  }

  private static Outcome run(Scenario scenario) {
    try {
      return Simulation.run(scenario);
    } catch (RuntimeException | AssertionError e) {
      throw new AssertionError("Seed " + scenario.seed() + " ended with an exception.", e);
    }
  }
}
