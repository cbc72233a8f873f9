package io.mortise.shedlock;

import io.mortise.testserver.TestStore;

class PostgresLockProviderTest extends LockProviderContract {
  PostgresLockProviderTest() {
    super(TestStore.POSTGRESQL);
  }
}
