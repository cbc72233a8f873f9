package io.mortise.jdbc;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.client.LockClientContract;

@ContractFor("jdbc:mysql")
class MySqlClientTest extends LockClientContract {
  MySqlClientTest() {
    super(new MySqlUnderTest(MySqlServers.MYSQL));
  }
}
