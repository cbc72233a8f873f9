package io.mortise.quorum;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.store.LockStoreContract;

/** Three Redis servers keep the contract of one store. */
@ContractFor("quorum")
class RedisMembersStoreTest extends LockStoreContract {
  RedisMembersStoreTest() {
    super(new RedisMembersUnderTest());
  }
}
