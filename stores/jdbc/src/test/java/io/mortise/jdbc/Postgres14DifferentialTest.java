package io.mortise.jdbc;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.differential.DifferentialContract;
import org.junit.jupiter.api.Tag;

@ContractFor("jdbc:postgresql")
@Tag("extended")
class Postgres14DifferentialTest extends DifferentialContract {
  Postgres14DifferentialTest() {
    super(() -> new PostgresUnderTest(PostgresServers.V14));
  }
}
