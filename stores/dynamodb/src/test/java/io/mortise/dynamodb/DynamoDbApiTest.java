package io.mortise.dynamodb;

import io.mortise.testkit.PublicApi;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class DynamoDbApiTest {
  @Test
  void givenModule_whenApiListed_thenEqualsGoldenFile() {
    PublicApi.verify(DynamoDbStore.class, Path.of("src/api/dynamodb.txt"));
  }
}
