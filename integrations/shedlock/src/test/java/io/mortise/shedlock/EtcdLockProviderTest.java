package io.mortise.shedlock;

import io.mortise.testserver.TestStore;
import org.junit.jupiter.api.Tag;

@Tag("extended")
class EtcdLockProviderTest extends LockProviderContract {
  EtcdLockProviderTest() {
    super(TestStore.ETCD);
  }
}
