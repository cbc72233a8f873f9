package io.mortise.simulation.toy;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.client.LockClientContract;

@ContractFor("toy")
class ToyStoreClientTest extends LockClientContract {
  ToyStoreClientTest() {
    super(ToyStoreUnderTest.onRealTime());
  }
}
