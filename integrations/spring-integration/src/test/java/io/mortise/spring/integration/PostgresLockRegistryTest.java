package io.mortise.spring.integration;

import io.mortise.testserver.TestStore;
import org.junit.jupiter.api.Tag;

@Tag("extended")
class PostgresLockRegistryTest extends LockRegistryContract {
  PostgresLockRegistryTest() {
    super(TestStore.POSTGRESQL);
  }
}
