package io.mortise.testkit;

/** The reference machine keeps its own contract. */
@ContractFor("mem")
class MemStoreTest extends LockStoreContract {
  MemStoreTest() {
    super(new MemStoreUnderTest());
  }
}
