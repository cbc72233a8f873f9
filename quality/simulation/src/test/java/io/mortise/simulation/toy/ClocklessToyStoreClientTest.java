package io.mortise.simulation.toy;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.client.LockClientContract;
import org.junit.jupiter.api.Tag;

@ContractFor("toy-clockless")
@Tag("extended")
class ClocklessToyStoreClientTest extends LockClientContract {
  ClocklessToyStoreClientTest() {
    super(ClocklessToyStoreUnderTest.onRealTime());
  }
}
