package io.mortise.jdbc;

import io.mortise.testkit.ContractFor;
import io.mortise.testkit.DifferentialContract;

@ContractFor("jdbc:mysql")
class MySqlDifferentialTest extends DifferentialContract {
  MySqlDifferentialTest() {
    super(() -> new MySqlUnderTest(MySqlServers.MYSQL));
  }
}
