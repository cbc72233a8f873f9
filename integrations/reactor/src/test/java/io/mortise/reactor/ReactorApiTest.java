package io.mortise.reactor;

import io.mortise.testkit.PublicApi;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class ReactorApiTest {
  @Test
  void givenModule_whenApiListed_thenEqualsGoldenFile() {
    PublicApi.verify(ReactiveLock.class, Path.of("src/api/reactor.txt"));
  }
}
