package io.mortise.dynamodb;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.store.LockStoreContract;
import org.junit.jupiter.api.Tag;

@ContractFor("dynamodb")
@Tag("extended")
class DynamoDbContractTest extends LockStoreContract {
  DynamoDbContractTest() {
    super(Dynalites.underTest());
  }
}
