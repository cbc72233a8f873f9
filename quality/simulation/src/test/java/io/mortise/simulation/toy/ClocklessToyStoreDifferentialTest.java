package io.mortise.simulation.toy;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.differential.DifferentialContract;

@ContractFor("toy-clockless")
class ClocklessToyStoreDifferentialTest extends DifferentialContract {
  ClocklessToyStoreDifferentialTest() {
    super(ClocklessToyStoreUnderTest::onRealTime);
  }
}
