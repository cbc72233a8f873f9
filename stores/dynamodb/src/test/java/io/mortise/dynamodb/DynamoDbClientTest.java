package io.mortise.dynamodb;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.client.LockClientContract;
import org.junit.jupiter.api.Tag;

@ContractFor("dynamodb")
@Tag("product")
class DynamoDbClientTest extends LockClientContract {
  DynamoDbClientTest() {
    super(Dynalites.underTest());
  }
}
