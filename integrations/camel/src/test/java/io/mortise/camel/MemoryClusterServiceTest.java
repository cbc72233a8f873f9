package io.mortise.camel;

import io.mortise.testserver.TestStore;

class MemoryClusterServiceTest extends ClusterServiceContract {
  MemoryClusterServiceTest() {
    super(TestStore.MEMORY);
  }
}
