package io.mortise.quorum;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.differential.DifferentialContract;

/** Three Redis servers answer as one store with a quorum's capabilities. */
@ContractFor("quorum")
class RedisMembersDifferentialTest extends DifferentialContract {
  RedisMembersDifferentialTest() {
    super(RedisMembersUnderTest::new, 2);
  }
}
