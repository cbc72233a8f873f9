package io.mortise.nats;

import io.mortise.testkit.TestPrerequisites;
import io.mortise.testkit.server.NatsServer;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** The servers that tests run against. */
final class NatsServers {
  private static final AtomicInteger NAMESPACES = new AtomicInteger();

  private static @Nullable NatsServer shared;

  private NatsServers() {}

  /** One that nobody in this JVM had before. */
  static String namespace() {
    return "test" + NAMESPACES.incrementAndGet();
  }

  /** The server that all tests of the JVM share. */
  static synchronized NatsServer shared() {
    NatsServer started = shared;
    if (started == null) {
      started = start();
      shared = started;
    }
    return started;
  }

  /** Starts one; where there is none, the test is skipped, or on CI fails. */
  static NatsServer start(String... arguments) {
    return NatsServer.start(
        TestPrerequisites.required(NatsServer.installed(), "The program nats-server"), arguments);
  }
}
