package io.mortise.simulation.toy;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.differential.DifferentialContract;

@ContractFor("toy")
class ToyStoreDifferentialTest extends DifferentialContract {
  ToyStoreDifferentialTest() {
    super(ToyStoreUnderTest::byHand);
  }
}
