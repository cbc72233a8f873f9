package io.mortise.jdbc;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.store.LockStoreContract;
import org.junit.jupiter.api.Tag;

@ContractFor("jdbc:h2")
@Tag("product")
class H2TcpContractTest extends LockStoreContract {
  H2TcpContractTest() {
    super(new H2UnderTest(H2UnderTest.Kind.TCP));
  }
}
