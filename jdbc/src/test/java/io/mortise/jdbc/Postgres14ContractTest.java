package io.mortise.jdbc;

import io.mortise.testkit.ContractFor;
import io.mortise.testkit.LockStoreContract;

@ContractFor("jdbc:postgresql")
class Postgres14ContractTest extends LockStoreContract {
  Postgres14ContractTest() {
    super(new PostgresUnderTest(PostgresServers.V14));
  }
}
