package io.mortise.jdbc.document;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.client.LockClientContract;
import org.junit.jupiter.api.Tag;

@ContractFor("jdbc")
@Tag("product")
class HsqldbClientTest extends LockClientContract {
  HsqldbClientTest() {
    super(DocumentServers.HSQLDB.underTest());
  }
}
