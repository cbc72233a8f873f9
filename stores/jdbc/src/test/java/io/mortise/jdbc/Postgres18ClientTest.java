package io.mortise.jdbc;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.client.LockClientContract;

@ContractFor("jdbc:postgresql")
class Postgres18ClientTest extends LockClientContract {
  Postgres18ClientTest() {
    super(new PostgresUnderTest(PostgresServers.V18));
  }
}
