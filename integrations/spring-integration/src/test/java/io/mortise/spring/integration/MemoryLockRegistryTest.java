package io.mortise.spring.integration;

import io.mortise.testserver.TestStore;

class MemoryLockRegistryTest extends LockRegistryContract {
  MemoryLockRegistryTest() {
    super(TestStore.MEMORY);
  }
}
