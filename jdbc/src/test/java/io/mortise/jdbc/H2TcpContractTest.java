package io.mortise.jdbc;

import io.mortise.testkit.ContractFor;
import io.mortise.testkit.LockStoreContract;

@ContractFor("jdbc:h2")
class H2TcpContractTest extends LockStoreContract {
  H2TcpContractTest() {
    super(new H2UnderTest(H2UnderTest.Kind.TCP));
  }
}
