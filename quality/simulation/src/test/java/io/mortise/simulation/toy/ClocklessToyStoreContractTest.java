package io.mortise.simulation.toy;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.store.LockStoreContract;

@ContractFor("toy-clockless")
class ClocklessToyStoreContractTest extends LockStoreContract {
  ClocklessToyStoreContractTest() {
    super(ClocklessToyStoreUnderTest.byHand());
  }
}
