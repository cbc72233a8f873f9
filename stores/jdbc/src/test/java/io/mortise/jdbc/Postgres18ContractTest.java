package io.mortise.jdbc;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.store.LockStoreContract;

@ContractFor("jdbc:postgresql")
class Postgres18ContractTest extends LockStoreContract {
  Postgres18ContractTest() {
    super(new PostgresUnderTest(PostgresServers.V18));
  }
}
