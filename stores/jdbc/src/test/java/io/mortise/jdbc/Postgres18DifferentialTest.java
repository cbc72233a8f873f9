package io.mortise.jdbc;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.differential.DifferentialContract;

@ContractFor("jdbc:postgresql")
class Postgres18DifferentialTest extends DifferentialContract {
  Postgres18DifferentialTest() {
    super(() -> new PostgresUnderTest(PostgresServers.V18));
  }
}
