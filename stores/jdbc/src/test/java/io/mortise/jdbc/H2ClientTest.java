package io.mortise.jdbc;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.client.LockClientContract;
import org.junit.jupiter.api.Tag;

@ContractFor("jdbc:h2")
@Tag("product")
class H2ClientTest extends LockClientContract {
  H2ClientTest() {
    super(new H2UnderTest(H2UnderTest.Kind.MEM));
  }
}
