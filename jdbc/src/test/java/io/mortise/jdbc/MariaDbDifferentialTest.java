package io.mortise.jdbc;

import io.mortise.testkit.ContractFor;
import io.mortise.testkit.DifferentialContract;

@ContractFor("jdbc:mariadb")
class MariaDbDifferentialTest extends DifferentialContract {
  MariaDbDifferentialTest() {
    super(() -> new MySqlUnderTest(MySqlServers.MARIADB));
  }
}
