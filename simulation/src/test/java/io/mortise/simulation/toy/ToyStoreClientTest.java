package io.mortise.simulation.toy;

import io.mortise.testkit.ContractFor;
import io.mortise.testkit.LockClientContract;

@ContractFor("toy")
class ToyStoreClientTest extends LockClientContract {
  ToyStoreClientTest() {
    super(new ToyStoreUnderTest());
  }
}
