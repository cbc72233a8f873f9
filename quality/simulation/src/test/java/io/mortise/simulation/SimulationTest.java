package io.mortise.simulation;

import java.util.concurrent.TimeUnit;
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
  private static final SeededWorlds WORLDS =
      SeededWorlds.ofCommandLine("mortise.sim.seeds", 3_000, Scenario::of);

  @Test
  @Timeout(value = 4, unit = TimeUnit.HOURS)
  void givenAnySeed_whenFaultsStrike_thenEveryPropertyHolds() {
    WORLDS.assertProperties();
  }

  @Test
  void givenOneSeed_whenItIsRunTwice_thenItGoesTheSameWay() {
    WORLDS.assertRepeatable(50);
  }

  @Test
  void givenASeedOnTheCommandLine_whenItIsRun_thenItsTraceIsShown() {
    WORLDS.showOne();
  }
}
