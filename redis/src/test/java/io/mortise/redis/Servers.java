package io.mortise.redis;

import io.mortise.testkit.server.RedisServer;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assumptions;

/** The servers that tests run against: 6.2 from a Maven artifact, a later one from the PATH. */
enum Servers {
  REDIS_6 {
    @Override
    Optional<Path> find() {
      return RedisServer.bundled();
    }
  },
  REDIS_7 {
    @Override
    Optional<Path> find() {
      return RedisServer.installed(7);
    }
  };

  abstract Optional<Path> find();

  /** Starts one; where there is none, the test is skipped, or on CI fails. */
  RedisServer start(String... arguments) {
    return RedisServer.start(binary(), arguments);
  }

  /** Its program; where there is none, the test is skipped, or on CI fails. */
  Path binary() {
    Optional<Path> binary = find();
    if (binary.isEmpty() && Boolean.getBoolean("mortise.ci")) {
      Assertions.fail("There is no server for " + this + "; on CI that is a failure.");
    }
    Assumptions.assumeTrue(binary.isPresent(), "no server for " + this + " on this machine");
    return binary.orElseThrow();
  }

  /** The best that this machine has, for tests that do not depend on the version. */
  static RedisServer any(String... arguments) {
    return Stream.of(REDIS_7, REDIS_6)
        .filter(server -> server.find().isPresent())
        .findFirst()
        .orElse(REDIS_6)
        .start(arguments);
  }
}
