package io.mortise.etcd;

import io.mortise.testkit.PublicApi;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class EtcdApiTest {
  @Test
  void givenModule_whenApiListed_thenEqualsGoldenFile() {
    PublicApi.verify(EtcdStore.class, Path.of("src/api/etcd.txt"));
  }
}
