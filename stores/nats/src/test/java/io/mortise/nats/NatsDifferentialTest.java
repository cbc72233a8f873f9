package io.mortise.nats;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.differential.DifferentialContract;
import io.mortise.testkit.contract.document.ClocklessStoreUnderTest;

@ContractFor("nats")
class NatsDifferentialTest extends DifferentialContract {
  NatsDifferentialTest() {
    super(() -> new ClocklessStoreUnderTest(NatsServers::shared));
  }
}
