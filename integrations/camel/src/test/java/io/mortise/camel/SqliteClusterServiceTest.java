package io.mortise.camel;

import io.mortise.testkit.server.TestStore;

class SqliteClusterServiceTest extends ClusterServiceContract {
  SqliteClusterServiceTest() {
    super(TestStore.SQLITE);
  }
}
