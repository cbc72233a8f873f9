package io.mortise.sql;

import io.mortise.testkit.PublicApi;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class SqlApiTest {
  @Test
  void givenModule_whenApiListed_thenEqualsGoldenFile() {
    PublicApi.verify(SqlHelpers.class, Path.of("src/api/sql.txt"));
  }
}
