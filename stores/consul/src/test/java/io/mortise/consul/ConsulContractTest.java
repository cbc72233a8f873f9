package io.mortise.consul;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.document.ClocklessStoreUnderTest;
import io.mortise.testkit.contract.store.LockStoreContract;

@ContractFor("consul")
class ConsulContractTest extends LockStoreContract {
  ConsulContractTest() {
    super(new ClocklessStoreUnderTest(ConsulServers::shared));
  }
}
