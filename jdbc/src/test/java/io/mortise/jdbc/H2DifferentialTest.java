package io.mortise.jdbc;

import io.mortise.testkit.ContractFor;
import io.mortise.testkit.DifferentialContract;

@ContractFor("jdbc:h2")
class H2DifferentialTest extends DifferentialContract {
  H2DifferentialTest() {
    super(() -> new H2UnderTest(H2UnderTest.Kind.MEM));
  }
}
