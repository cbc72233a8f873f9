package io.mortise.jdbc;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.store.LockStoreContract;
import org.junit.jupiter.api.Tag;

@ContractFor("jdbc:h2")
@Tag("extended")
class H2FileContractTest extends LockStoreContract {
  H2FileContractTest() {
    super(new H2UnderTest(H2UnderTest.Kind.FILE));
  }
}
