package io.mortise.spring.integration;

import io.mortise.testserver.TestStore;
import org.junit.jupiter.api.Tag;

@Tag("product")
class RedisLockRegistryTest extends LockRegistryContract {
  RedisLockRegistryTest() {
    super(TestStore.REDIS);
  }
}
