package io.mortise.jdbc.document;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.differential.DifferentialContract;
import org.junit.jupiter.api.Tag;

@ContractFor("jdbc")
@Tag("product")
class H2DifferentialTest extends DifferentialContract {
  H2DifferentialTest() {
    super(DocumentServers.H2::underTest);
  }
}
