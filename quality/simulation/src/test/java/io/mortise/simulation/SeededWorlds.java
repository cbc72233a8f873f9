package io.mortise.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.simulation.Simulation.Outcome;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongFunction;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Assumptions;

/**
 * Simulated worlds, one for each seed, with assertions.
 *
 * @param from the first seed
 * @param number of seeds
 * @param world of a seed
 */
record SeededWorlds(long from, long number, LongFunction<Scenario> world) {
  /** The worlds that the command line names, or the first ones. */
  static SeededWorlds ofCommandLine(String property, long usual, LongFunction<Scenario> world) {
    return new SeededWorlds(
        Long.getLong("mortise.sim.from", 0), Long.getLong(property, usual), world);
  }

  /** Asserts that every property holds in each world. */
  void assertProperties() {
    Assumptions.assumeTrue(Long.getLong("mortise.sim.seed") == null, "one seed is run alone");
    LongAdder grants = new LongAdder();
    LongAdder losses = new LongAdder();

    Outcome broken =
        LongStream.range(from, from + number)
            .parallel()
            .mapToObj(seed -> run(world.apply(seed)))
            .peek(outcome -> grants.add(outcome.stats().grants()))
            .peek(outcome -> losses.add(outcome.stats().losses()))
            .filter(outcome -> !outcome.violations().isEmpty())
            .findAny()
            .orElse(null);

    assertThat(broken).withFailMessage(() -> SimulationReport.of(broken)).isNull();
    // Worlds without events prove nothing.
    assertThat(grants.sum()).isGreaterThan(20 * number);
    assertThat(losses.sum()).isGreaterThan(number / 2);
  }

  /** Asserts that two runs of the first seeds are the same. */
  void assertRepeatable(int seeds) {
    for (long seed = 0; seed < seeds; seed++) {
      Scenario scenario = world.apply(seed).withTrace();

      assertThat(run(scenario).trace()).isEqualTo(run(scenario).trace());
    }
  }

  /** Runs the world of {@code -Dmortise.sim.seed}. */
  @SuppressWarnings("SystemOut") // for a person to read
  void showOne() {
    Long seed = Long.getLong("mortise.sim.seed");
    Assumptions.assumeTrue(seed != null, "no -Dmortise.sim.seed");
    Scenario scenario = world.apply(seed);
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
