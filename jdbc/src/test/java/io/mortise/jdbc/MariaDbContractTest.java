package io.mortise.jdbc;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.store.LockStoreContract;

@ContractFor("jdbc:mariadb")
class MariaDbContractTest extends LockStoreContract {
  MariaDbContractTest() {
    super(new MySqlUnderTest(MySqlServers.MARIADB));
  }
}
