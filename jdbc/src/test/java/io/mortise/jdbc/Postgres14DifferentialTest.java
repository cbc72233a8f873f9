package io.mortise.jdbc;

import io.mortise.testkit.ContractFor;
import io.mortise.testkit.DifferentialContract;

@ContractFor("jdbc:postgresql")
class Postgres14DifferentialTest extends DifferentialContract {
  Postgres14DifferentialTest() {
    super(() -> new PostgresUnderTest(PostgresServers.V14));
  }
}
