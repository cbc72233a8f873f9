package io.mortise.shedlock;

import io.mortise.testserver.TestStore;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

@Tag("product")
class ConsulLockProviderTest extends LockProviderContract {
  ConsulLockProviderTest() {
    super(TestStore.CONSUL);
  }

  @BeforeAll
  static void assumeThere() {
    Assumptions.assumeFalse(
        "none".equals(System.getProperty("mortise.consul")), "SKIPPED: none is here.");
  }
}
