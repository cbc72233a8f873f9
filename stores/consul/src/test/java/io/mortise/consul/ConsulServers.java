package io.mortise.consul;

import io.mortise.testkit.TestPrerequisites;
import io.mortise.testserver.ConsulServer;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;

/**
 * The servers that tests run against: {@code consul} of the PATH. With {@code
 * -Dmortise.consul=none} those tests are skipped, on CI too: the distribution has no Consul any
 * more.
 */
final class ConsulServers {
  private static final AtomicInteger NAMESPACES = new AtomicInteger();

  private static @Nullable ConsulServer shared;

  private ConsulServers() {}

  /** One that nobody in this JVM had before. */
  static String namespace() {
    return "test" + NAMESPACES.incrementAndGet();
  }

  /** The server that all tests of the JVM share. */
  static synchronized ConsulServer shared() {
    ConsulServer started = shared;
    if (started == null) {
      started = start();
      shared = started;
    }
    return started;
  }

  /** The program; where there is none, the test is skipped, or on CI fails. */
  static Path program() {
    Assumptions.assumeFalse(
        "none".equals(System.getProperty("mortise.consul")), "SKIPPED: there is no Consul here.");
    return TestPrerequisites.required(ConsulServer.installed(), "The program consul");
  }

  /** Starts one. */
  static ConsulServer start(String... arguments) {
    return ConsulServer.start(program(), arguments);
  }
}
