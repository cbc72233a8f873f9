package io.mortise.quorum;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.differential.DifferentialContract;

/** Three members in memory answer as one store that can do what a quorum can. */
@ContractFor("quorum")
class MemMembersDifferentialTest extends DifferentialContract {
  MemMembersDifferentialTest() {
    // Between two members no time may pass: they would not always mint as many tokens as one does.
    super(MemMembers::onManualTime);
  }
}
