package io.mortise.shedlock;

import io.mortise.testserver.TestStore;

class RedisLockProviderTest extends LockProviderContract {
  RedisLockProviderTest() {
    super(TestStore.REDIS);
  }
}
