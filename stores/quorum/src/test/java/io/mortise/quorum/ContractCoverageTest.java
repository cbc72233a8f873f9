package io.mortise.quorum;

import io.mortise.testkit.contract.ContractCoverage;
import org.junit.jupiter.api.Test;

class ContractCoverageTest {
  @Test
  void givenStore_thenItRunsEveryContract() {
    ContractCoverage.verify(new QuorumStoreProvider(), ContractCoverageTest.class);
  }
}
