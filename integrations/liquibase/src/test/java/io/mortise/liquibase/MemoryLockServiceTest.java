package io.mortise.liquibase;

import io.mortise.testkit.server.TestStore;

class MemoryLockServiceTest extends LockServiceContract {
  MemoryLockServiceTest() {
    super(TestStore.MEMORY);
  }
}
