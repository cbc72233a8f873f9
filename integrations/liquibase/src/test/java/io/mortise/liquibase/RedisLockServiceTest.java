package io.mortise.liquibase;

import io.mortise.testkit.server.TestStore;

class RedisLockServiceTest extends LockServiceContract {
  RedisLockServiceTest() {
    super(TestStore.REDIS);
  }
}
