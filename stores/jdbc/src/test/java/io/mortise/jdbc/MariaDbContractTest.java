package io.mortise.jdbc;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.store.LockStoreContract;
import org.junit.jupiter.api.Tag;

@ContractFor("jdbc:mariadb")
@Tag("extended")
class MariaDbContractTest extends LockStoreContract {
  MariaDbContractTest() {
    super(new MySqlUnderTest(MySqlServers.MARIADB));
  }
}
