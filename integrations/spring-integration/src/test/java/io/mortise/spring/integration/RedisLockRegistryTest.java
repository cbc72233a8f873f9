package io.mortise.spring.integration;

import io.mortise.testkit.server.TestStore;

class RedisLockRegistryTest extends LockRegistryContract {
  RedisLockRegistryTest() {
    super(TestStore.REDIS);
  }
}
