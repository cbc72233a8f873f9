package io.mortise.jdbc;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.client.LockClientContract;

@ContractFor("jdbc:mariadb")
class MariaDbClientTest extends LockClientContract {
  MariaDbClientTest() {
    super(new MySqlUnderTest(MySqlServers.MARIADB));
  }
}
