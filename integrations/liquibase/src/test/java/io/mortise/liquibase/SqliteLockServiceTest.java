package io.mortise.liquibase;

import io.mortise.testserver.TestStore;
import org.junit.jupiter.api.Tag;

@Tag("product")
class SqliteLockServiceTest extends LockServiceContract {
  SqliteLockServiceTest() {
    super(TestStore.SQLITE);
  }
}
