package io.mortise.quorum;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.differential.DifferentialContract;
import org.junit.jupiter.api.Tag;

/** Members that mint tokens but know no floor, like ZooKeeper, make a lock without tokens. */
@ContractFor("quorum")
@Tag("extended")
class FloorlessMembersDifferentialTest extends DifferentialContract {
  FloorlessMembersDifferentialTest() {
    super(MemMembers::likeZooKeeper);
  }
}
