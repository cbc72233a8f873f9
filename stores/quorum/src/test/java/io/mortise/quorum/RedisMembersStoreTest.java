package io.mortise.quorum;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.store.LockStoreContract;
import org.junit.jupiter.api.Tag;

/** Three Redis servers keep the contract of one store. */
@ContractFor("quorum")
@Tag("product")
class RedisMembersStoreTest extends LockStoreContract {
  RedisMembersStoreTest() {
    super(new RedisMembersUnderTest());
  }
}
