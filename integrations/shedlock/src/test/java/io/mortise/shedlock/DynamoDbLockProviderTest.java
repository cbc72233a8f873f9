package io.mortise.shedlock;

import io.mortise.testserver.TestStore;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

@Tag("product")
class DynamoDbLockProviderTest extends LockProviderContract {
  DynamoDbLockProviderTest() {
    super(TestStore.DYNAMODB);
  }

  @BeforeAll
  static void assumeThere() {
    Assumptions.assumeFalse(
        "none".equals(System.getProperty("mortise.dynamodb")), "SKIPPED: none is here.");
  }
}
