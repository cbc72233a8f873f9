package io.mortise.liquibase;

import io.mortise.testserver.TestStore;

class MemoryLockServiceTest extends LockServiceContract {
  MemoryLockServiceTest() {
    super(TestStore.MEMORY);
  }
}
