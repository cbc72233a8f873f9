package io.mortise.quorum;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.store.LockStoreContract;

/** Three members in memory keep the contract of one store. */
@ContractFor("quorum")
class MemMembersStoreTest extends LockStoreContract {
  MemMembersStoreTest() {
    super(MemMembers.onManualTime());
  }
}
