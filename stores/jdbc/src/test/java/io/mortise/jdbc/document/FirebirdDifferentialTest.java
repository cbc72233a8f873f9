package io.mortise.jdbc.document;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.differential.DifferentialContract;
import org.junit.jupiter.api.Tag;

@ContractFor("jdbc")
@Tag("product")
class FirebirdDifferentialTest extends DifferentialContract {
  FirebirdDifferentialTest() {
    super(DocumentServers.FIREBIRD::underTest);
  }
}
