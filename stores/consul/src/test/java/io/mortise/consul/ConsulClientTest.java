package io.mortise.consul;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.client.LockClientContract;
import io.mortise.testkit.contract.document.ClocklessStoreUnderTest;
import org.junit.jupiter.api.Tag;

@ContractFor("consul")
@Tag("product")
class ConsulClientTest extends LockClientContract {
  ConsulClientTest() {
    super(new ClocklessStoreUnderTest(ConsulServers::shared));
  }
}
