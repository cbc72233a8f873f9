package io.mortise.camel;

import io.mortise.testkit.server.TestStore;

class MemoryClusterServiceTest extends ClusterServiceContract {
  MemoryClusterServiceTest() {
    super(TestStore.MEMORY);
  }
}
