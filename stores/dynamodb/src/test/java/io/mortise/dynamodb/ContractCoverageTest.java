package io.mortise.dynamodb;

import io.mortise.testkit.contract.ContractCoverage;
import org.junit.jupiter.api.Test;

class ContractCoverageTest {
  @Test
  void givenStore_thenItRunsEveryContract() {
    ContractCoverage.verify(new DynamoDbStoreProvider(), ContractCoverageTest.class);
  }
}
