package io.mortise.shedlock;

import io.mortise.testkit.server.TestStore;

class SqliteLockProviderTest extends LockProviderContract {
  SqliteLockProviderTest() {
    super(TestStore.SQLITE);
  }
}
