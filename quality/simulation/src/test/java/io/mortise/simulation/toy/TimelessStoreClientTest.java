package io.mortise.simulation.toy;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.client.LockClientContract;
import org.junit.jupiter.api.Tag;

@ContractFor("toy-timeless")
@Tag("extended")
class TimelessStoreClientTest extends LockClientContract {
  TimelessStoreClientTest() {
    super(TimelessStoreUnderTest.onRealTime());
  }
}
