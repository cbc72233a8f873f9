package io.mortise.jdbc;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.client.LockClientContract;
import org.junit.jupiter.api.Tag;

@ContractFor("jdbc:mariadb")
@Tag("product")
class MariaDbClientTest extends LockClientContract {
  MariaDbClientTest() {
    super(new MySqlUnderTest(MySqlServers.MARIADB));
  }
}
