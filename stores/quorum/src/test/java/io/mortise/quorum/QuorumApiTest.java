package io.mortise.quorum;

import io.mortise.testkit.PublicApi;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class QuorumApiTest {
  @Test
  void givenModule_whenApiListed_thenEqualsGoldenFile() {
    PublicApi.verify(QuorumStore.class, Path.of("src/api/quorum.txt"));
  }
}
