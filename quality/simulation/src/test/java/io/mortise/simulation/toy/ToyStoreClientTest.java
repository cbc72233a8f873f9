package io.mortise.simulation.toy;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.client.LockClientContract;
import org.junit.jupiter.api.Tag;

@ContractFor("toy")
@Tag("extended")
class ToyStoreClientTest extends LockClientContract {
  ToyStoreClientTest() {
    super(ToyStoreUnderTest.onRealTime());
  }
}
