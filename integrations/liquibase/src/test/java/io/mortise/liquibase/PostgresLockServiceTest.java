package io.mortise.liquibase;

import io.mortise.testserver.TestStore;

class PostgresLockServiceTest extends LockServiceContract {
  PostgresLockServiceTest() {
    super(TestStore.POSTGRESQL);
  }
}
