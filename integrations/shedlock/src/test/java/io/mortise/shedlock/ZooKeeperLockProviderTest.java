package io.mortise.shedlock;

import io.mortise.testserver.TestStore;
import org.junit.jupiter.api.Tag;

@Tag("extended")
class ZooKeeperLockProviderTest extends LockProviderContract {
  ZooKeeperLockProviderTest() {
    super(TestStore.ZOOKEEPER);
  }
}
