package io.mortise.consul;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.differential.DifferentialContract;
import io.mortise.testkit.contract.document.ClocklessStoreUnderTest;

@ContractFor("consul")
class ConsulDifferentialTest extends DifferentialContract {
  ConsulDifferentialTest() {
    super(() -> new ClocklessStoreUnderTest(ConsulServers::shared));
  }
}
