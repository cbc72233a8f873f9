package io.mortise.consul;

import io.mortise.testkit.PublicApi;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class ConsulApiTest {
  @Test
  void givenModule_whenApiListed_thenEqualsGoldenFile() {
    PublicApi.verify(ConsulStore.class, Path.of("src/api/consul.txt"));
  }
}
