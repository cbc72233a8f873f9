package io.mortise.micrometer;

import io.mortise.testkit.PublicApi;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class MicrometerApiTest {
  @Test
  void givenModule_whenApiListed_thenEqualsGoldenFile() {
    PublicApi.verify(LockMetrics.class, Path.of("src/api/micrometer.txt"));
  }
}
