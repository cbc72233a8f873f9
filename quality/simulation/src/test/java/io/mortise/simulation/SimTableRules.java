package io.mortise.simulation;

import io.mortise.support.table.LockTable;
import io.mortise.support.table.TableRules;
import java.time.Duration;

/** All rules of the table, with a bound that few processes can reach. */
class SimTableRules extends TableRules {
  /** The most items that a step touches, in every third world. */
  static final int FEW = 2;

  private final int steps;

  /** The retention, shorter in some worlds so that records are forgotten within a run. */
  Duration retention = LockTable.RETENTION;

  SimTableRules(int steps) {
    this.steps = steps;
  }

  @Override
  protected Duration retention() {
    return retention;
  }

  @Override
  protected int steps() {
    return steps;
  }
}
