package io.mortise.liquibase;

import io.mortise.testkit.PublicApi;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class LiquibaseApiTest {
  @Test
  void givenModule_whenApiListed_thenEqualsGoldenFile() {
    PublicApi.verify(MortiseLockService.class, Path.of("src/api/liquibase.txt"));
  }
}
