package io.mortise.jdbc;

import io.mortise.testkit.ContractFor;
import io.mortise.testkit.LockStoreContract;

@ContractFor("jdbc:h2")
class H2MemContractTest extends LockStoreContract {
  H2MemContractTest() {
    super(new H2UnderTest(H2UnderTest.Kind.MEM));
  }
}
