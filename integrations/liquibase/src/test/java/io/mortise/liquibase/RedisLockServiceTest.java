package io.mortise.liquibase;

import io.mortise.testserver.TestStore;
import org.junit.jupiter.api.Tag;

@Tag("product")
class RedisLockServiceTest extends LockServiceContract {
  RedisLockServiceTest() {
    super(TestStore.REDIS);
  }
}
