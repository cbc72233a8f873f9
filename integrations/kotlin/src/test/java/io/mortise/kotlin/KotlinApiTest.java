package io.mortise.kotlin;

import io.mortise.testkit.PublicApi;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class KotlinApiTest {
  @Test
  void givenModule_whenApiListed_thenEqualsGoldenFile() {
    PublicApi.verify(SuspendLock.class, Path.of("src/api/kotlin.txt"));
  }
}
