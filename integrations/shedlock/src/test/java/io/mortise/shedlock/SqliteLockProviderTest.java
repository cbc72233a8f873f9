package io.mortise.shedlock;

import io.mortise.testserver.TestStore;
import org.junit.jupiter.api.Tag;

@Tag("product")
class SqliteLockProviderTest extends LockProviderContract {
  SqliteLockProviderTest() {
    super(TestStore.SQLITE);
  }
}
