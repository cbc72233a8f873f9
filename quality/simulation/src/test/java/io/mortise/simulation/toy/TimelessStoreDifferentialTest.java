package io.mortise.simulation.toy;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.differential.DifferentialContract;

@ContractFor("toy-timeless")
class TimelessStoreDifferentialTest extends DifferentialContract {
  TimelessStoreDifferentialTest() {
    super(TimelessStoreUnderTest::onRealTime);
  }
}
