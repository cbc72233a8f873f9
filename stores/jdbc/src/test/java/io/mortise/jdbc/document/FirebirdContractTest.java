package io.mortise.jdbc.document;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.store.LockStoreContract;
import org.junit.jupiter.api.Tag;

@ContractFor("jdbc")
@Tag("product")
class FirebirdContractTest extends LockStoreContract {
  FirebirdContractTest() {
    super(DocumentServers.FIREBIRD.underTest());
  }
}
