package io.mortise.redis;

import io.mortise.redis.lettuce.LettuceStore;
import io.mortise.testkit.PublicApi;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class LettuceApiTest {
  @Test
  void givenModule_whenApiListed_thenEqualsGoldenFile() {
    PublicApi.verify(LettuceStore.class, Path.of("src/api/redis-lettuce.txt"));
  }
}
