package io.mortise.dynamodb;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.store.LockStoreContract;

@ContractFor("dynamodb")
class DynamoDbContractTest extends LockStoreContract {
  DynamoDbContractTest() {
    super(Dynalites.underTest());
  }
}
