package io.mortise.spring.boot;

import io.mortise.testkit.PublicApi;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class SpringBootStarterApiTest {
  @Test
  void givenModule_whenApiListed_thenEqualsGoldenFile() {
    PublicApi.verify(MortiseAutoConfiguration.class, Path.of("src/api/spring-boot-starter.txt"));
  }
}
