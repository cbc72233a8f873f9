package io.mortise.testkit;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.store.LockStoreContract;

/** The reference machine keeps its own contract. */
@ContractFor("mem")
class MemStoreTest extends LockStoreContract {
  MemStoreTest() {
    super(new MemStoreUnderTest());
  }
}
