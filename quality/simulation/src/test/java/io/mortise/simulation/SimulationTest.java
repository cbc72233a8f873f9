package io.mortise.simulation;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Runs whole worlds in virtual time: real engines, each with a drifting clock, over the lock table,
 * through connections that lose, delay, copy and reorder; processes that stop, sleep and die; a
 * store that pauses, fails and loses state. Each world follows from its seed.
 *
 * <p><b>Judged.</b> Beliefs of holders that exclude each other never overlap, and no belief
 * outlives its session in the store; tokens rise and are unique; a resource that compares tokens
 * never turns away a holder; at-least times are kept; local hand-off is bounded once another
 * process waits; a lock that is free is granted to a waiter within a bound, pushes or not; in the
 * end neither an engine nor the table keeps anything. Where a fault breaks an assumption (see
 * {@link SimFault#BREAK_BELIEF}), only properties independent of it are judged.
 *
 * <p><b>Not judged.</b> One thread runs all, so events are atomic: races between threads of one
 * process, parking, waking and the blocking forms are left to {@link LocalHandoffStressTest}. The
 * wire formats and scripts of real stores have the store contracts.
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
