package io.mortise.shedlock;

import io.mortise.testkit.server.TestStore;

class PostgresLockProviderTest extends LockProviderContract {
  PostgresLockProviderTest() {
    super(TestStore.POSTGRESQL);
  }
}
