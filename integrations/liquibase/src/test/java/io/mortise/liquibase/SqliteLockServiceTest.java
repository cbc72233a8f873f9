package io.mortise.liquibase;

import io.mortise.testserver.TestStore;

class SqliteLockServiceTest extends LockServiceContract {
  SqliteLockServiceTest() {
    super(TestStore.SQLITE);
  }
}
