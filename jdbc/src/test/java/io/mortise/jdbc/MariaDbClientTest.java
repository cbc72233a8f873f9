package io.mortise.jdbc;

import io.mortise.testkit.ContractFor;
import io.mortise.testkit.LockClientContract;

@ContractFor("jdbc:mariadb")
class MariaDbClientTest extends LockClientContract {
  MariaDbClientTest() {
    super(new MySqlUnderTest(MySqlServers.MARIADB));
  }
}
