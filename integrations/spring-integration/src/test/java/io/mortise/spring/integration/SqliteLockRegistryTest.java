package io.mortise.spring.integration;

import io.mortise.testserver.TestStore;

class SqliteLockRegistryTest extends LockRegistryContract {
  SqliteLockRegistryTest() {
    super(TestStore.SQLITE);
  }
}
