package io.mortise.simulation.toy;

import io.mortise.testkit.ContractFor;
import io.mortise.testkit.DifferentialContract;

@ContractFor("toy")
class ToyStoreDifferentialTest extends DifferentialContract {
  ToyStoreDifferentialTest() {
    super(ToyStoreUnderTest::new);
  }
}
