package io.mortise.spring.integration;

import io.mortise.testkit.server.TestStore;

class PostgresLockRegistryTest extends LockRegistryContract {
  PostgresLockRegistryTest() {
    super(TestStore.POSTGRESQL);
  }
}
