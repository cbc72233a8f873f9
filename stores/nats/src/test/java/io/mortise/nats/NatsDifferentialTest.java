package io.mortise.nats;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.differential.DifferentialContract;
import io.mortise.testkit.contract.document.ClocklessStoreUnderTest;
import org.junit.jupiter.api.Tag;

@ContractFor("nats")
@Tag("extended")
class NatsDifferentialTest extends DifferentialContract {
  NatsDifferentialTest() {
    super(() -> new ClocklessStoreUnderTest(NatsServers::shared));
  }
}
