package io.mortise.camel;

import io.mortise.testserver.TestStore;
import org.junit.jupiter.api.Tag;

@Tag("product")
class SqliteClusterServiceTest extends ClusterServiceContract {
  SqliteClusterServiceTest() {
    super(TestStore.SQLITE);
  }
}
