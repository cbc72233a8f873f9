package io.mortise.zookeeper;

import io.mortise.testkit.contract.ContractCoverage;
import org.junit.jupiter.api.Test;

class ContractCoverageTest {
  @Test
  void givenEverySchemeOfTheModule_thenItRunsEveryContract() {
    ContractCoverage.verify(new ZooKeeperStoreProvider().schemes(), getClass());
  }
}
