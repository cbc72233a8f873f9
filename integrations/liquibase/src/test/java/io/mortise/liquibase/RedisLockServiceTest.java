package io.mortise.liquibase;

import io.mortise.testserver.TestStore;

class RedisLockServiceTest extends LockServiceContract {
  RedisLockServiceTest() {
    super(TestStore.REDIS);
  }
}
