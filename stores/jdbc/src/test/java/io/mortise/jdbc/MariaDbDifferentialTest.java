package io.mortise.jdbc;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.differential.DifferentialContract;
import org.junit.jupiter.api.Tag;

@ContractFor("jdbc:mariadb")
@Tag("extended")
class MariaDbDifferentialTest extends DifferentialContract {
  MariaDbDifferentialTest() {
    super(() -> new MySqlUnderTest(MySqlServers.MARIADB));
  }
}
