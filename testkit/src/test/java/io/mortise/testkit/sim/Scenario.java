package io.mortise.testkit.sim;

import io.mortise.internal.engine.EngineRules;
import io.mortise.internal.table.TableRules;
import java.util.EnumSet;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.IntFunction;

/**
 * What one run is made of; all of it follows from the seed, but for rules that are taken away on
 * purpose and faults that are left out to find the shortest example.
 */
record Scenario(long seed, Set<Fault> faults, Rules rules, boolean traced) {

  /**
   * The rules in force.
   *
   * @param table by how many items a step may touch
   */
  record Rules(IntFunction<TableRules> table, EngineRules engine, Set<Wire> wire) {
    static final Rules ALL = new Rules(SimRules::new, EngineRules.ALL, Set.of());
  }

  /** Rules of a store's transport that can be broken. */
  enum Wire {
    /** Stragglers are executed although they were sent longer than {@code maxInFlight} ago. */
    FORGETS_MAX_IN_FLIGHT,
    /** An answer never says that work for the queue is left. */
    HIDES_MORE
  }

  static Scenario of(long seed) {
    return of(seed, Rules.ALL);
  }

  static Scenario of(long seed, Rules rules) {
    SplittableRandom random = new SplittableRandom(seed ^ 0x5EED);
    EnumSet<Fault> faults = EnumSet.noneOf(Fault.class);
    // Few faults at a time find what many at a time hide, and the reverse.
    double likely = new double[] {0, 0.1, 0.25, 0.5}[random.nextInt(4)];
    boolean keepsBelief = random.nextInt(4) != 0;
    for (Fault fault : Fault.values()) {
      if (random.nextDouble() < likely && !(keepsBelief && Fault.BREAK_BELIEF.contains(fault))) {
        faults.add(fault);
      }
    }
    if (faults.contains(Fault.STATE_LOSS) || faults.contains(Fault.FORGET)) {
      // After both only a source outside could know which tokens were given out.
      faults.remove(Fault.CLOCK_BACK);
    }
    return new Scenario(seed, faults, rules, false);
  }

  Scenario without(Fault fault) {
    EnumSet<Fault> fewer = EnumSet.copyOf(faults);
    fewer.remove(fault);
    return new Scenario(seed, fewer, rules, traced);
  }

  Scenario withTrace() {
    return new Scenario(seed, faults, rules, true);
  }

  boolean has(Fault fault) {
    return faults.contains(fault);
  }

  /** Whether the assumptions hold under which no two holders believe at the same time. */
  boolean keepsBelief() {
    return faults.stream().noneMatch(Fault.BREAK_BELIEF::contains);
  }
}
