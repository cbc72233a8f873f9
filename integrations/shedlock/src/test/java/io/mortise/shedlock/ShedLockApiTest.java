package io.mortise.shedlock;

import io.mortise.testkit.PublicApi;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class ShedLockApiTest {
  @Test
  void givenModule_whenApiListed_thenEqualsGoldenFile() {
    PublicApi.verify(MortiseLockProvider.class, Path.of("src/api/shedlock.txt"));
  }
}
