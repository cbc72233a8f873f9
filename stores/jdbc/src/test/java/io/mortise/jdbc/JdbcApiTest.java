package io.mortise.jdbc;

import io.mortise.testkit.PublicApi;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class JdbcApiTest {
  @Test
  void givenModule_whenApiListed_thenEqualsGoldenFile() {
    PublicApi.verify(JdbcStore.class, Path.of("src/api/jdbc.txt"));
  }
}
