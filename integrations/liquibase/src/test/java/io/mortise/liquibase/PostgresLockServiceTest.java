package io.mortise.liquibase;

import io.mortise.testserver.TestStore;
import org.junit.jupiter.api.Tag;

@Tag("extended")
class PostgresLockServiceTest extends LockServiceContract {
  PostgresLockServiceTest() {
    super(TestStore.POSTGRESQL);
  }
}
