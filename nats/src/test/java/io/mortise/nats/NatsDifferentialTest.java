package io.mortise.nats;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.differential.DifferentialContract;

@ContractFor("nats")
class NatsDifferentialTest extends DifferentialContract {
  NatsDifferentialTest() {
    super(NatsUnderTest::new);
  }
}
