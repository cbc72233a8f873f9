package io.mortise.jdbc.document;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.differential.DifferentialContract;

@ContractFor("jdbc")
class DerbyDifferentialTest extends DifferentialContract {
  DerbyDifferentialTest() {
    super(DocumentServers.DERBY::underTest);
  }
}
