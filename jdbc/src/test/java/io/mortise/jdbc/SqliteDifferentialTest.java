package io.mortise.jdbc;

import io.mortise.testkit.ContractFor;
import io.mortise.testkit.DifferentialContract;

@ContractFor("jdbc:sqlite")
class SqliteDifferentialTest extends DifferentialContract {
  SqliteDifferentialTest() {
    super(SqliteUnderTest::new);
  }
}
