package io.mortise.jdbc;

import io.mortise.testkit.ContractFor;
import io.mortise.testkit.DifferentialContract;

@ContractFor("jdbc:postgresql")
class Postgres18DifferentialTest extends DifferentialContract {
  Postgres18DifferentialTest() {
    super(() -> new PostgresUnderTest(PostgresServers.V18));
  }
}
