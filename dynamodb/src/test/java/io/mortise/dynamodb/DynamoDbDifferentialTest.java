package io.mortise.dynamodb;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.differential.DifferentialContract;
import io.mortise.testkit.contract.document.ClocklessStoreUnderTest;

@ContractFor("dynamodb")
class DynamoDbDifferentialTest extends DifferentialContract {
  DynamoDbDifferentialTest() {
    // The emulator is slow, and etcd's documents have all runs.
    super(() -> new ClocklessStoreUnderTest(Dynalites::shared), 2);
  }
}
