package io.mortise.jdbc;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.differential.DifferentialContract;

@ContractFor("jdbc:postgresql")
class Postgres14DifferentialTest extends DifferentialContract {
  Postgres14DifferentialTest() {
    super(() -> new PostgresUnderTest(PostgresServers.V14));
  }
}
