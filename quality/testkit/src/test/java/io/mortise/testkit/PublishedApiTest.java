package io.mortise.testkit;

import io.mortise.annotation.Beta;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The API of core and of this module; each store checks its own. */
class PublishedApiTest {

  @Test
  void givenCore_whenApiListed_thenEqualsGoldenFile() {
    PublicApi.verify(Beta.class, Path.of("../../core/src/api/core.txt"));
  }

  @Test
  void givenTestkit_whenApiListed_thenEqualsGoldenFile() {
    PublicApi.verify(PublicApi.class, Path.of("src/api/testkit.txt"));
  }
}
