package io.mortise.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.simulation.SimulationMutants.Mutant;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The positive control: a clean simulation proves something only if it detects real errors. Each
 * rule of the table, the engine and the transport is removed or weakened in turn. Its property must
 * break within a bounded number of worlds.
 */
@Tag("extended")
class SimulationMutantsTest {
  private static final int SEEDS = 30_000;

  static Stream<Mutant> mutants() {
    return SimulationMutants.all().stream();
  }

  @Timeout(300)
  @ParameterizedTest(name = "{0}")
  @MethodSource("mutants")
  void givenARuleIsBroken_whenWorldsAreRun_thenItsPropertySaysSo(Mutant mutant) {
    boolean caught =
        isCaught(mutant, mutant.knownSeed())
            || LongStream.range(0, SEEDS).parallel().anyMatch(seed -> isCaught(mutant, seed));

    assertThat(caught)
        .as("'%s' is caught by %s within %d seeds", mutant.name(), mutant.caughtBy(), SEEDS)
        .isTrue();
  }

  private static boolean isCaught(Mutant mutant, long seed) {
    return Simulation.run(Scenario.of(seed, mutant.rules())).violations().stream()
        .anyMatch(violation -> mutant.caughtBy().contains(violation.rule()));
  }
}
