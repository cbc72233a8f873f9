package io.mortise.jdbc;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.store.LockStoreContract;

@ContractFor("jdbc:sqlite")
class SqliteContractTest extends LockStoreContract {
  SqliteContractTest() {
    super(new SqliteUnderTest());
  }
}
