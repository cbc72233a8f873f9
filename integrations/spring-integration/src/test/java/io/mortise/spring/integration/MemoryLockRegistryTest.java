package io.mortise.spring.integration;

import io.mortise.testkit.server.TestStore;

class MemoryLockRegistryTest extends LockRegistryContract {
  MemoryLockRegistryTest() {
    super(TestStore.MEMORY);
  }
}
