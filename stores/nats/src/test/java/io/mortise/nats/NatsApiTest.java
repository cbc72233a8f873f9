package io.mortise.nats;

import io.mortise.testkit.PublicApi;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class NatsApiTest {
  @Test
  void givenModule_whenApiListed_thenEqualsGoldenFile() {
    PublicApi.verify(NatsStore.class, Path.of("src/api/nats.txt"));
  }
}
