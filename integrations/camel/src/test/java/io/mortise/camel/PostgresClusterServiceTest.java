package io.mortise.camel;

import io.mortise.testkit.server.TestStore;

class PostgresClusterServiceTest extends ClusterServiceContract {
  PostgresClusterServiceTest() {
    super(TestStore.POSTGRESQL);
  }
}
