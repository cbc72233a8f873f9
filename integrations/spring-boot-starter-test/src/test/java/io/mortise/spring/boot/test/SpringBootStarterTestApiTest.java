package io.mortise.spring.boot.test;

import io.mortise.testkit.PublicApi;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class SpringBootStarterTestApiTest {
  @Test
  void givenModule_whenApiListed_thenEqualsGoldenFile() {
    PublicApi.verify(MemoryLocks.class, Path.of("src/api/spring-boot-starter-test.txt"));
  }
}
