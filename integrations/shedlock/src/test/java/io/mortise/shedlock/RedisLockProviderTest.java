package io.mortise.shedlock;

import io.mortise.testserver.TestStore;
import org.junit.jupiter.api.Tag;

@Tag("product")
class RedisLockProviderTest extends LockProviderContract {
  RedisLockProviderTest() {
    super(TestStore.REDIS);
  }
}
