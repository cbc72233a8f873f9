package io.mortise.zookeeper;

import io.mortise.testkit.PublicApi;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class ZooKeeperApiTest {
  @Test
  void givenModule_whenApiListed_thenEqualsGoldenFile() {
    PublicApi.verify(ZooKeeperStore.class, Path.of("src/api/zookeeper.txt"));
  }
}
