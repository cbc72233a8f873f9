package io.mortise.camel;

import io.mortise.testkit.server.TestStore;

class RedisClusterServiceTest extends ClusterServiceContract {
  RedisClusterServiceTest() {
    super(TestStore.REDIS);
  }
}
