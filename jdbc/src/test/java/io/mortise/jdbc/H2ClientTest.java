package io.mortise.jdbc;

import io.mortise.testkit.ContractFor;
import io.mortise.testkit.LockClientContract;

@ContractFor("jdbc:h2")
class H2ClientTest extends LockClientContract {
  H2ClientTest() {
    super(new H2UnderTest(H2UnderTest.Kind.MEM));
  }
}
