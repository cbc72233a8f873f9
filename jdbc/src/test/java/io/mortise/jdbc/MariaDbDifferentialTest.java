package io.mortise.jdbc;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.differential.DifferentialContract;

@ContractFor("jdbc:mariadb")
class MariaDbDifferentialTest extends DifferentialContract {
  MariaDbDifferentialTest() {
    super(() -> new MySqlUnderTest(MySqlServers.MARIADB));
  }
}
