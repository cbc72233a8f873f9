package io.mortise.jdbc;

import io.mortise.testkit.ContractFor;
import io.mortise.testkit.LockStoreContract;

@ContractFor("jdbc:sqlite")
class SqliteContractTest extends LockStoreContract {
  SqliteContractTest() {
    super(new SqliteUnderTest());
  }
}
