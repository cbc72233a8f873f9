package io.mortise.shedlock;

import io.mortise.testserver.TestStore;

class SqliteLockProviderTest extends LockProviderContract {
  SqliteLockProviderTest() {
    super(TestStore.SQLITE);
  }
}
