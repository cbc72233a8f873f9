package io.mortise.shedlock;

import io.mortise.testserver.TestStore;

class MemoryLockProviderTest extends LockProviderContract {
  MemoryLockProviderTest() {
    super(TestStore.MEMORY);
  }
}
