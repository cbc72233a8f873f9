package io.mortise.jdbc;

import io.mortise.testkit.contract.ContractCoverage;
import org.junit.jupiter.api.Test;

class JdbcContractCoverageTest {
  @Test
  void givenProvider_whenItsSchemesAreAsked_thenEachRunsEachContract() {
    ContractCoverage.verify(new JdbcStoreProvider(), JdbcContractCoverageTest.class);
  }
}
