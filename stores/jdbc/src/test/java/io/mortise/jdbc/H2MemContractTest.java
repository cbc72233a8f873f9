package io.mortise.jdbc;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.store.LockStoreContract;
import org.junit.jupiter.api.Tag;

@ContractFor("jdbc:h2")
@Tag("extended")
class H2MemContractTest extends LockStoreContract {
  H2MemContractTest() {
    super(new H2UnderTest(H2UnderTest.Kind.MEM));
  }
}
