package io.mortise.spring.integration;

import io.mortise.testkit.PublicApi;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class SpringIntegrationApiTest {
  @Test
  void givenModule_whenApiListed_thenEqualsGoldenFile() {
    PublicApi.verify(MortiseLockRegistry.class, Path.of("src/api/spring-integration.txt"));
  }
}
