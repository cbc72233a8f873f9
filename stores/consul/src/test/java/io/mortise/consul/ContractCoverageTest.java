package io.mortise.consul;

import io.mortise.testkit.contract.ContractCoverage;
import org.junit.jupiter.api.Test;

class ContractCoverageTest {
  @Test
  void givenStore_thenItRunsEveryContract() {
    ContractCoverage.verify(new ConsulStoreProvider(), ContractCoverageTest.class);
  }
}
