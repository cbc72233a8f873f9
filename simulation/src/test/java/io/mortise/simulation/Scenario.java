package io.mortise.simulation;

import io.mortise.internal.runtime.EngineRules;
import io.mortise.internal.table.TableRules;
import java.util.EnumSet;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.IntFunction;

/**
 * What one run is made of; all of it follows from the seed, but for rules that are taken away on
 * purpose and faults that are left out to find the shortest example.
 */
record Scenario(long seed, Set<SimFault> faults, RuleSet rules, boolean traced) {

  /**
   * The rules in force.
   *
   * @param table by how many items a step may touch
   */
  record RuleSet(IntFunction<TableRules> table, EngineRules engine, Set<TransportFlaw> wire) {
    static final RuleSet ALL = new RuleSet(SimTableRules::new, EngineRules.ALL, Set.of());
  }

  /** Rules of a store's transport that can be broken. */
  enum TransportFlaw {
    /** Stragglers are executed although they were sent longer than {@code maxInFlight} ago. */
    FORGETS_MAX_IN_FLIGHT,
    /** An answer never says that work for the queue is left. */
    HIDES_MORE
  }

  static Scenario of(long seed) {
    return of(seed, RuleSet.ALL);
  }

  static Scenario of(long seed, RuleSet rules) {
    SplittableRandom random = new SplittableRandom(seed ^ 0x5EED);
    EnumSet<SimFault> faults = EnumSet.noneOf(SimFault.class);
    // Few faults at a time find what many at a time hide, and the reverse.
    double likely = new double[] {0, 0.1, 0.25, 0.5}[random.nextInt(4)];
    boolean keepsBelief = random.nextInt(4) != 0;
    for (SimFault simFault : SimFault.values()) {
      if (random.nextDouble() < likely
          && !(keepsBelief && SimFault.BREAK_BELIEF.contains(simFault))) {
        faults.add(simFault);
      }
    }
    if (faults.contains(SimFault.STATE_LOSS) || faults.contains(SimFault.FORGET)) {
      // After both only a source outside could know which tokens were given out.
      faults.remove(SimFault.CLOCK_BACK);
    }
    return new Scenario(seed, faults, rules, false);
  }

  Scenario without(SimFault simFault) {
    EnumSet<SimFault> fewer = EnumSet.copyOf(faults);
    fewer.remove(simFault);
    return new Scenario(seed, fewer, rules, traced);
  }

  Scenario withTrace() {
    return new Scenario(seed, faults, rules, true);
  }

  boolean has(SimFault simFault) {
    return faults.contains(simFault);
  }

  /** Whether the assumptions hold under which no two holders believe at the same time. */
  boolean keepsBelief() {
    return faults.stream().noneMatch(SimFault.BREAK_BELIEF::contains);
  }
}
