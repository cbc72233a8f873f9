package io.mortise.camel;

import io.mortise.testserver.TestStore;
import org.junit.jupiter.api.Tag;

@Tag("extended")
class PostgresClusterServiceTest extends ClusterServiceContract {
  PostgresClusterServiceTest() {
    super(TestStore.POSTGRESQL);
  }
}
