package io.mortise.consul;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.differential.DifferentialContract;
import io.mortise.testkit.contract.document.ClocklessStoreUnderTest;
import org.junit.jupiter.api.Tag;

@ContractFor("consul")
@Tag("extended")
class ConsulDifferentialTest extends DifferentialContract {
  ConsulDifferentialTest() {
    super(() -> new ClocklessStoreUnderTest(ConsulServers::shared));
  }
}
