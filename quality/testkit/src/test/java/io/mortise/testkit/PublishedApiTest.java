package io.mortise.testkit;

import io.mortise.annotation.Beta;
import io.mortise.support.document.VersionedDocuments;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The API of core, store-support and this module; each store checks its own. */
class PublishedApiTest {

  @Test
  void givenCore_whenApiListed_thenEqualsGoldenFile() {
    PublicApi.verify(Beta.class, Path.of("../../core/src/api/core.txt"));
  }

  @Test
  void givenStoreSupport_whenApiListed_thenEqualsGoldenFile() {
    PublicApi.verify(
        VersionedDocuments.class, Path.of("../../store-support/src/api/store-support.txt"));
  }

  @Test
  void givenTestkit_whenApiListed_thenEqualsGoldenFile() {
    PublicApi.verify(PublicApi.class, Path.of("src/api/testkit.txt"));
  }
}
