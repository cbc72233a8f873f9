package io.mortise.quorum;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.differential.DifferentialContract;

/** Three members in memory answer as one store with a quorum's capabilities. */
@ContractFor("quorum")
class MemMembersDifferentialTest extends DifferentialContract {
  MemMembersDifferentialTest() {
    // No time may pass between two members: they would not always mint as many tokens as one does.
    super(MemMembers::onManualTime);
  }
}
