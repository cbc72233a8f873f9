package io.mortise.camel;

import io.mortise.testserver.TestStore;

class SqliteClusterServiceTest extends ClusterServiceContract {
  SqliteClusterServiceTest() {
    super(TestStore.SQLITE);
  }
}
