package io.mortise.simulation;

import io.mortise.internal.runtime.EngineRules;
import io.mortise.support.table.TableRules;
import java.util.EnumSet;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The parameters of a run. All follow from the seed, except rules removed on purpose, and faults
 * left out to shrink an example.
 */
record Scenario(long seed, StoreKind store, Set<SimFault> faults, RuleSet rules, boolean traced) {

  /** The kind of store that the processes share. */
  enum StoreKind {
    /** A lock table, which takes a whole step at a time. */
    TABLE,
    /** Documents with versions, and a clock. */
    DOCUMENTS,
    /** Clockless documents, where a write may be executed at any time. */
    DOCUMENTS_WITHOUT_CLOCK
  }

  /**
   * The rules in force.
   *
   * @param table by how many items a step may touch
   * @param documents the flaw of a store of documents; null for none
   */
  record RuleSet(
      IntFunction<TableRules> table,
      EngineRules engine,
      Set<TransportFlaw> wire,
      @Nullable DocumentFlaw documents) {
    static final RuleSet ALL = new RuleSet(SimTableRules::new, EngineRules.ALL, Set.of());

    RuleSet(IntFunction<TableRules> table, EngineRules engine, Set<TransportFlaw> wire) {
      this(table, engine, wire, null);
    }

    RuleSet with(DocumentFlaw flaw) {
      return new RuleSet(table, engine, wire, flaw);
    }
  }

  /** Flaws of a store's transport. */
  enum TransportFlaw {
    /** Stragglers are executed although they were sent longer than {@code maxInFlight} ago. */
    FORGETS_MAX_IN_FLIGHT,
    /** An answer never says that queue work is left. */
    HIDES_MORE
  }

  static Scenario of(long seed) {
    return of(seed, RuleSet.ALL);
  }

  static Scenario of(long seed, RuleSet rules) {
    SplittableRandom random = new SplittableRandom(seed ^ 0x5EED);
    EnumSet<SimFault> faults = EnumSet.noneOf(SimFault.class);
    // Few faults reveal errors that many faults hide, and vice versa.
    double likely = new double[] {0, 0.1, 0.25, 0.5}[random.nextInt(4)];
    boolean keepsBelief = random.nextInt(4) != 0;
    for (SimFault simFault : SimFault.values()) {
      if (random.nextDouble() < likely
          && !(keepsBelief && SimFault.BREAK_BELIEF.contains(simFault))) {
        faults.add(simFault);
      }
    }
    if (faults.contains(SimFault.STATE_LOSS) || faults.contains(SimFault.FORGET)) {
      // After both faults only an external source could know the issued tokens.
      faults.remove(SimFault.CLOCK_BACK);
    }
    faults.remove(SimFault.SLOW_RENEWAL);
    return new Scenario(seed, StoreKind.TABLE, faults, rules, false);
  }

  /** Over a store of documents. */
  static Scenario ofDocuments(long seed, RuleSet rules) {
    Scenario scenario = of(seed, rules);
    EnumSet<SimFault> faults = EnumSet.copyOf(scenario.faults());
    StoreKind kind = seed % 3 == 0 ? StoreKind.DOCUMENTS : StoreKind.DOCUMENTS_WITHOUT_CLOCK;
    // Stores of documents lose no state, and their clock never goes back.
    faults.removeAll(EnumSet.of(SimFault.STATE_LOSS, SimFault.FORGET, SimFault.CLOCK_BACK));
    if (!faults.isEmpty() && seed % 2 == 0) {
      faults.add(SimFault.SLOW_RENEWAL);
    }
    if (kind == StoreKind.DOCUMENTS_WITHOUT_CLOCK) {
      faults.remove(SimFault.CLOCK_FORWARD);
    }
    return new Scenario(seed, kind, faults, rules, false);
  }

  Scenario without(SimFault simFault) {
    EnumSet<SimFault> fewer = EnumSet.copyOf(faults);
    fewer.remove(simFault);
    return new Scenario(seed, store, fewer, rules, traced);
  }

  Scenario withTrace() {
    return new Scenario(seed, store, faults, rules, true);
  }

  boolean has(SimFault simFault) {
    return faults.contains(simFault);
  }

  /** Whether the assumptions hold under which no two holders believe at the same time. */
  boolean keepsBelief() {
    return faults.stream().noneMatch(SimFault.BREAK_BELIEF::contains);
  }
}
