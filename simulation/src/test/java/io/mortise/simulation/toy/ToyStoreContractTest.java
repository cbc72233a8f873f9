package io.mortise.simulation.toy;

import io.mortise.testkit.ContractFor;
import io.mortise.testkit.LockStoreContract;

@ContractFor("toy")
class ToyStoreContractTest extends LockStoreContract {
  ToyStoreContractTest() {
    super(new ToyStoreUnderTest());
  }
}
