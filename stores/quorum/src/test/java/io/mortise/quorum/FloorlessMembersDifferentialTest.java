package io.mortise.quorum;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.differential.DifferentialContract;

/** Members that mint tokens but know no floor, like ZooKeeper, make a lock without tokens. */
@ContractFor("quorum")
class FloorlessMembersDifferentialTest extends DifferentialContract {
  FloorlessMembersDifferentialTest() {
    super(MemMembers::likeZooKeeper);
  }
}
