package io.mortise.etcd;

import io.mortise.testkit.contract.ContractCoverage;
import org.junit.jupiter.api.Test;

class ContractCoverageTest {
  @Test
  void givenStore_thenItRunsEveryContract() {
    ContractCoverage.verify(new EtcdStoreProvider(), ContractCoverageTest.class);
  }
}
