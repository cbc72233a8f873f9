package io.mortise.quorum;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.store.LockStoreContract;

/** Members that mint tokens but know no floor, like ZooKeeper, make a lock without tokens. */
@ContractFor("quorum")
class FloorlessMembersStoreTest extends LockStoreContract {
  FloorlessMembersStoreTest() {
    super(MemMembers.likeZooKeeper());
  }
}
