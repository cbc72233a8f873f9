package io.mortise.quorum;

import io.mortise.testkit.ContractFor;
import io.mortise.testkit.LockStoreContract;
import org.junit.jupiter.api.Timeout;

/** Three members in memory keep the contract of one store. */
@ContractFor("quorum")
@Timeout(5)
class MemMembersStoreTest extends LockStoreContract {
  MemMembersStoreTest() {
    super(MemMembers.onManualTime());
  }
}
