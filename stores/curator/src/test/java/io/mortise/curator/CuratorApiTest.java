package io.mortise.curator;

import io.mortise.testkit.PublicApi;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class CuratorApiTest {
  @Test
  void givenModule_whenApiListed_thenEqualsGoldenFile() {
    PublicApi.verify(CuratorStore.class, Path.of("src/api/curator.txt"));
  }
}
