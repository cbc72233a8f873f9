package io.mortise.jdbc;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.differential.DifferentialContract;

@ContractFor("jdbc:mysql")
class MySqlDifferentialTest extends DifferentialContract {
  MySqlDifferentialTest() {
    super(() -> new MySqlUnderTest(MySqlServers.MYSQL));
  }
}
