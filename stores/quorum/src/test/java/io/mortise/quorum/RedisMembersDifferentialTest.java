package io.mortise.quorum;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.differential.DifferentialContract;
import org.junit.jupiter.api.Tag;

/** Three Redis servers answer as one store with a quorum's capabilities. */
@ContractFor("quorum")
@Tag("extended")
class RedisMembersDifferentialTest extends DifferentialContract {
  RedisMembersDifferentialTest() {
    super(RedisMembersUnderTest::new, 2);
  }
}
