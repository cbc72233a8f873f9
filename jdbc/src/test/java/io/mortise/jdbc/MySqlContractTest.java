package io.mortise.jdbc;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.store.LockStoreContract;

@ContractFor("jdbc:mysql")
class MySqlContractTest extends LockStoreContract {
  MySqlContractTest() {
    super(new MySqlUnderTest(MySqlServers.MYSQL));
  }
}
