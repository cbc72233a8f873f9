package io.mortise.quorum;

import io.mortise.testkit.ContractFor;
import io.mortise.testkit.LockClientContract;

/** The API over three members in memory. */
@ContractFor("quorum")
class MemMembersClientTest extends LockClientContract {
  MemMembersClientTest() {
    super(MemMembers.onRealTime());
  }
}
