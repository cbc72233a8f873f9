package io.mortise.jdbc;

import io.mortise.testkit.ContractFor;
import io.mortise.testkit.LockStoreContract;

@ContractFor("jdbc:postgresql")
class Postgres18ContractTest extends LockStoreContract {
  Postgres18ContractTest() {
    super(new PostgresUnderTest(PostgresServers.V18));
  }
}
