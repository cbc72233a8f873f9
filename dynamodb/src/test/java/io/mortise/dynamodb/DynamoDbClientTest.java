package io.mortise.dynamodb;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.client.LockClientContract;
import io.mortise.testkit.contract.document.ClocklessStoreUnderTest;
import org.junit.jupiter.api.Tag;

@ContractFor("dynamodb")
@Tag("extended")
class DynamoDbClientTest extends LockClientContract {
  DynamoDbClientTest() {
    super(new ClocklessStoreUnderTest(Dynalites::shared));
  }
}
