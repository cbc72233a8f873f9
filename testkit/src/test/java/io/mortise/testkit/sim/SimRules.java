package io.mortise.testkit.sim;

import io.mortise.internal.table.TableRules;

/** All rules of the table, with a bound that a handful of processes can reach. */
class SimRules extends TableRules {
  /** So few items does a step touch in every third world. */
  static final int FEW = 2;

  private final int steps;

  SimRules(int steps) {
    this.steps = steps;
  }

  @Override
  protected int steps() {
    return steps;
  }
}
