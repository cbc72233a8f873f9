package io.mortise.liquibase;

import io.mortise.testkit.server.TestStore;

class PostgresLockServiceTest extends LockServiceContract {
  PostgresLockServiceTest() {
    super(TestStore.POSTGRESQL);
  }
}
