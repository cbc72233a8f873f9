package io.mortise.shedlock;

import io.mortise.testkit.server.TestStore;

class MemoryLockProviderTest extends LockProviderContract {
  MemoryLockProviderTest() {
    super(TestStore.MEMORY);
  }
}
