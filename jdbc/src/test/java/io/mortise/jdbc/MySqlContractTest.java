package io.mortise.jdbc;

import io.mortise.testkit.ContractFor;
import io.mortise.testkit.LockStoreContract;

@ContractFor("jdbc:mysql")
class MySqlContractTest extends LockStoreContract {
  MySqlContractTest() {
    super(new MySqlUnderTest(MySqlServers.MYSQL));
  }
}
