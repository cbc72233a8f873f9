package io.mortise.spring.integration;

import io.mortise.testserver.TestStore;

class PostgresLockRegistryTest extends LockRegistryContract {
  PostgresLockRegistryTest() {
    super(TestStore.POSTGRESQL);
  }
}
