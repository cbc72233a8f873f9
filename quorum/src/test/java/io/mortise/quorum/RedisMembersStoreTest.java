package io.mortise.quorum;

import io.mortise.testkit.ContractFor;
import io.mortise.testkit.LockStoreContract;

/** Three Redis servers keep the contract of one store. */
@ContractFor("quorum")
class RedisMembersStoreTest extends LockStoreContract {
  RedisMembersStoreTest() {
    super(new RedisMembersUnderTest());
  }
}
