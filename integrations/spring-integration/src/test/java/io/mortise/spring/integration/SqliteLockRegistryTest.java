package io.mortise.spring.integration;

import io.mortise.testkit.server.TestStore;

class SqliteLockRegistryTest extends LockRegistryContract {
  SqliteLockRegistryTest() {
    super(TestStore.SQLITE);
  }
}
