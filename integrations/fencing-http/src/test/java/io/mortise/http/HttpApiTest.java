package io.mortise.http;

import io.mortise.testkit.PublicApi;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class HttpApiTest {
  @Test
  void givenModule_whenApiListed_thenEqualsGoldenFile() {
    PublicApi.verify(FencingHeader.class, Path.of("src/api/fencing-http.txt"));
  }
}
