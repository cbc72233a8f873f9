package io.mortise.jdbc;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.differential.DifferentialContract;

@ContractFor("jdbc:h2")
class H2DifferentialTest extends DifferentialContract {
  H2DifferentialTest() {
    super(() -> new H2UnderTest(H2UnderTest.Kind.MEM));
  }
}
