package io.mortise.spring.integration;

import io.mortise.testserver.TestStore;
import org.junit.jupiter.api.Tag;

@Tag("product")
class SqliteLockRegistryTest extends LockRegistryContract {
  SqliteLockRegistryTest() {
    super(TestStore.SQLITE);
  }
}
