package io.mortise.redis;

import io.mortise.testkit.PublicApi;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class RedisApiTest {
  @Test
  void givenModule_whenApiListed_thenEqualsGoldenFile() {
    PublicApi.verify(RedisStore.class, Path.of("src/api/redis.txt"));
  }
}
