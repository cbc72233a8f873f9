package io.mortise.jdbc.document;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.store.LockStoreContract;

@ContractFor("jdbc")
class DerbyContractTest extends LockStoreContract {
  DerbyContractTest() {
    super(DocumentServers.DERBY.underTest());
  }
}
