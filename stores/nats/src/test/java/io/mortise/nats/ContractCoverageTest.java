package io.mortise.nats;

import io.mortise.testkit.contract.ContractCoverage;
import org.junit.jupiter.api.Test;

class ContractCoverageTest {
  @Test
  void givenStore_thenItRunsEveryContract() {
    ContractCoverage.verify(new NatsStoreProvider(), ContractCoverageTest.class);
  }
}
