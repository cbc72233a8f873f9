package io.mortise.shedlock;

import io.mortise.testserver.TestStore;
import org.junit.jupiter.api.Tag;

@Tag("product")
class NatsLockProviderTest extends LockProviderContract {
  NatsLockProviderTest() {
    super(TestStore.NATS);
  }
}
