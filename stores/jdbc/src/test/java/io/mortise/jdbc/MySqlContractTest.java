package io.mortise.jdbc;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.store.LockStoreContract;
import org.junit.jupiter.api.Tag;

@ContractFor("jdbc:mysql")
@Tag("product")
class MySqlContractTest extends LockStoreContract {
  MySqlContractTest() {
    super(new MySqlUnderTest(MySqlServers.MYSQL));
  }
}
