package io.mortise.jdbc;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.client.LockClientContract;

@ContractFor("jdbc:h2")
class H2ClientTest extends LockClientContract {
  H2ClientTest() {
    super(new H2UnderTest(H2UnderTest.Kind.MEM));
  }
}
