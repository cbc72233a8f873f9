package io.mortise.testkit;

import org.junit.jupiter.api.Timeout;

/** The reference machine keeps its own contract. */
@ContractFor("mem")
@Timeout(5)
class MemStoreTest extends LockStoreContract {
  MemStoreTest() {
    super(new MemUnderTest());
  }
}
