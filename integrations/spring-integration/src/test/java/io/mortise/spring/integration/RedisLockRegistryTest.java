package io.mortise.spring.integration;

import io.mortise.testserver.TestStore;

class RedisLockRegistryTest extends LockRegistryContract {
  RedisLockRegistryTest() {
    super(TestStore.REDIS);
  }
}
