package io.mortise.liquibase;

import io.mortise.testkit.server.TestStore;

class SqliteLockServiceTest extends LockServiceContract {
  SqliteLockServiceTest() {
    super(TestStore.SQLITE);
  }
}
