package io.mortise.jdbc;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.client.LockClientContract;

@ContractFor("jdbc:sqlite")
class SqliteClientTest extends LockClientContract {
  SqliteClientTest() {
    super(new SqliteUnderTest());
  }
}
