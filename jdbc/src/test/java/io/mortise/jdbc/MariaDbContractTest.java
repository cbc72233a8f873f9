package io.mortise.jdbc;

import io.mortise.testkit.ContractFor;
import io.mortise.testkit.LockStoreContract;

@ContractFor("jdbc:mariadb")
class MariaDbContractTest extends LockStoreContract {
  MariaDbContractTest() {
    super(new MySqlUnderTest(MySqlServers.MARIADB));
  }
}
