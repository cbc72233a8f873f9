package io.mortise.jdbc;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.store.LockStoreContract;

@ContractFor("jdbc:h2")
class H2TcpContractTest extends LockStoreContract {
  H2TcpContractTest() {
    super(new H2UnderTest(H2UnderTest.Kind.TCP));
  }
}
