package io.mortise.jdbc;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.client.LockClientContract;
import org.junit.jupiter.api.Tag;

@ContractFor("jdbc:mysql")
@Tag("product")
class MySqlClientTest extends LockClientContract {
  MySqlClientTest() {
    super(new MySqlUnderTest(MySqlServers.MYSQL));
  }
}
