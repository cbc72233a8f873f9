package io.mortise.camel;

import io.mortise.testkit.PublicApi;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class CamelApiTest {
  @Test
  void givenModule_whenApiListed_thenEqualsGoldenFile() {
    PublicApi.verify(MortiseClusterService.class, Path.of("src/api/camel.txt"));
  }
}
