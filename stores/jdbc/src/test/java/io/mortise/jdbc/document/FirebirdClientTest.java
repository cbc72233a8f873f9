package io.mortise.jdbc.document;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.client.LockClientContract;
import org.junit.jupiter.api.Tag;

@ContractFor("jdbc")
@Tag("product")
class FirebirdClientTest extends LockClientContract {
  FirebirdClientTest() {
    super(DocumentServers.FIREBIRD.underTest());
  }
}
