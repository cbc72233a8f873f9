package io.mortise.jdbc.document;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.differential.DifferentialContract;

@ContractFor("jdbc")
class HsqldbDifferentialTest extends DifferentialContract {
  HsqldbDifferentialTest() {
    super(DocumentServers.HSQLDB::underTest);
  }
}
