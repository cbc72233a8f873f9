package io.mortise.shedlock;

import io.mortise.testserver.TestStore;
import org.junit.jupiter.api.Tag;

@Tag("extended")
class PostgresLockProviderTest extends LockProviderContract {
  PostgresLockProviderTest() {
    super(TestStore.POSTGRESQL);
  }
}
