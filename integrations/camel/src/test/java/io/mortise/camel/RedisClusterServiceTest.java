package io.mortise.camel;

import io.mortise.testserver.TestStore;
import org.junit.jupiter.api.Tag;

@Tag("product")
class RedisClusterServiceTest extends ClusterServiceContract {
  RedisClusterServiceTest() {
    super(TestStore.REDIS);
  }
}
