package io.mortise.jdbc.document;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.store.LockStoreContract;
import org.junit.jupiter.api.Tag;

@ContractFor("jdbc")
@Tag("product")
class H2ContractTest extends LockStoreContract {
  H2ContractTest() {
    super(DocumentServers.H2.underTest());
  }
}
