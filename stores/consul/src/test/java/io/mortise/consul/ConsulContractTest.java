package io.mortise.consul;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.document.ClocklessStoreUnderTest;
import io.mortise.testkit.contract.store.LockStoreContract;
import org.junit.jupiter.api.Tag;

@ContractFor("consul")
@Tag("extended")
class ConsulContractTest extends LockStoreContract {
  ConsulContractTest() {
    super(new ClocklessStoreUnderTest(ConsulServers::shared));
  }
}
