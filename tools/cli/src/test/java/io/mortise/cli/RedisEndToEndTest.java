package io.mortise.cli;

import io.mortise.testkit.TestPrerequisites;
import io.mortise.testserver.RedisServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInfo;

/** On a new Redis server. */
class RedisEndToEndTest extends EndToEnd {
  private static RedisServer server;

  private String namespace;

  @BeforeAll
  static void start() {
    server =
        RedisServer.start(TestPrerequisites.required(RedisServer.bundled(), "The Redis server"));
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
    return server.url() + "?timeout=20s&namespace=" + namespace;
  }
}
