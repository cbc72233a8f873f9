package io.mortise.dynamodb;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.differential.DifferentialContract;
import org.junit.jupiter.api.Tag;

@ContractFor("dynamodb")
@Tag("extended")
class DynamoDbDifferentialTest extends DifferentialContract {
  DynamoDbDifferentialTest() {
    // The emulator is slow, and etcd's documents have all runs.
    super(Dynalites::underTest, 2);
  }
}
