package io.mortise.memcached;

import io.mortise.testkit.PublicApi;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class MemcachedApiTest {
  @Test
  void givenModule_whenApiListed_thenEqualsGoldenFile() {
    PublicApi.verify(MemcachedStore.class, Path.of("src/api/memcached.txt"));
  }
}
