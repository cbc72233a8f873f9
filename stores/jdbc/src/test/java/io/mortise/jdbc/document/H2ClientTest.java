package io.mortise.jdbc.document;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.client.LockClientContract;
import org.junit.jupiter.api.Tag;

@ContractFor("jdbc")
@Tag("product")
class H2ClientTest extends LockClientContract {
  H2ClientTest() {
    super(DocumentServers.H2.underTest());
  }
}
