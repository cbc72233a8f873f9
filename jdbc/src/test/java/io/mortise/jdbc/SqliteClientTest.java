package io.mortise.jdbc;

import io.mortise.testkit.ContractFor;
import io.mortise.testkit.LockClientContract;

@ContractFor("jdbc:sqlite")
class SqliteClientTest extends LockClientContract {
  SqliteClientTest() {
    super(new SqliteUnderTest());
  }
}
