package io.mortise.jdbc;

import io.mortise.testkit.ContractFor;
import io.mortise.testkit.LockClientContract;

@ContractFor("jdbc:postgresql")
class Postgres18ClientTest extends LockClientContract {
  Postgres18ClientTest() {
    super(new PostgresUnderTest(PostgresServers.V18));
  }
}
