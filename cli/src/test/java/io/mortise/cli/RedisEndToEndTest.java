package io.mortise.cli;

import io.mortise.testkit.server.RedisServer;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInfo;

/** On a Redis server of its own. */
class RedisEndToEndTest extends EndToEnd {
  private static RedisServer server;

  private String namespace;

  @BeforeAll
  static void start() {
    Optional<Path> binary = RedisServer.bundled();
    if (binary.isEmpty() && Boolean.getBoolean("mortise.ci")) {
      throw new IllegalStateException("There is no Redis server for this machine.");
    }
    Assumptions.assumeTrue(binary.isPresent(), "no Redis server for this machine");
    server = RedisServer.start(binary.get());
  }

  @BeforeEach
  void chooseNamespace(TestInfo test) {
    namespace = "test" + test.getDisplayName().hashCode();
  }

  @AfterAll
  static void stop() {
    if (server != null) {
      server.close();
    }
  }

  @Override
  String url() {
    return server.url() + "?namespace=" + namespace;
  }
}
