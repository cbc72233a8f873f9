package io.mortise.camel;

import io.mortise.testserver.TestStore;

class PostgresClusterServiceTest extends ClusterServiceContract {
  PostgresClusterServiceTest() {
    super(TestStore.POSTGRESQL);
  }
}
