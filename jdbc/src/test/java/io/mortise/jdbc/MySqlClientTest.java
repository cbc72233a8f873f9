package io.mortise.jdbc;

import io.mortise.testkit.ContractFor;
import io.mortise.testkit.LockClientContract;

@ContractFor("jdbc:mysql")
class MySqlClientTest extends LockClientContract {
  MySqlClientTest() {
    super(new MySqlUnderTest(MySqlServers.MYSQL));
  }
}
