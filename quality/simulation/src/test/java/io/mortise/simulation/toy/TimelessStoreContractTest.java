package io.mortise.simulation.toy;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.store.LockStoreContract;

@ContractFor("toy-timeless")
class TimelessStoreContractTest extends LockStoreContract {
  TimelessStoreContractTest() {
    super(TimelessStoreUnderTest.byHand());
  }
}
