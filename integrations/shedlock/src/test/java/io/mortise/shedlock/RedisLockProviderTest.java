package io.mortise.shedlock;

import io.mortise.testkit.server.TestStore;

class RedisLockProviderTest extends LockProviderContract {
  RedisLockProviderTest() {
    super(TestStore.REDIS);
  }
}
