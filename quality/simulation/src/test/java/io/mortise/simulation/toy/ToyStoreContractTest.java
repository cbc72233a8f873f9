package io.mortise.simulation.toy;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.store.LockStoreContract;

@ContractFor("toy")
class ToyStoreContractTest extends LockStoreContract {
  ToyStoreContractTest() {
    super(ToyStoreUnderTest.byHand());
  }
}
