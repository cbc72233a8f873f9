package io.mortise.jdbc;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.differential.DifferentialContract;
import org.junit.jupiter.api.Tag;

@ContractFor("jdbc:mysql")
@Tag("product")
class MySqlDifferentialTest extends DifferentialContract {
  MySqlDifferentialTest() {
    super(() -> new MySqlUnderTest(MySqlServers.MYSQL));
  }
}
