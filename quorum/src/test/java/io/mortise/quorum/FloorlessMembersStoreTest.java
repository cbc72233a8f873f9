package io.mortise.quorum;

import io.mortise.testkit.ContractFor;
import io.mortise.testkit.LockStoreContract;

/** Members that mint tokens but know no floor, as ZooKeeper, make a lock without tokens. */
@ContractFor("quorum")
class FloorlessMembersStoreTest extends LockStoreContract {
  FloorlessMembersStoreTest() {
    super(MemMembers.likeZooKeeper());
  }
}
