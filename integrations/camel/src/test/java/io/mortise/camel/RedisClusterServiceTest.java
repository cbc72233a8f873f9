package io.mortise.camel;

import io.mortise.testserver.TestStore;

class RedisClusterServiceTest extends ClusterServiceContract {
  RedisClusterServiceTest() {
    super(TestStore.REDIS);
  }
}
