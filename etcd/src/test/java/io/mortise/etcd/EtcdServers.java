package io.mortise.etcd;

import io.mortise.testkit.TestPrerequisites;
import io.mortise.testkit.server.EtcdServer;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** The servers that tests run against. */
final class EtcdServers {
  private static final AtomicInteger NAMESPACES = new AtomicInteger();

  private static @Nullable EtcdServer shared;

  private EtcdServers() {}

  /** One that nobody in this JVM had before. */
  static String namespace() {
    return "test" + NAMESPACES.incrementAndGet();
  }

  /** The server that all tests of the JVM share. */
  static synchronized EtcdServer shared() {
    EtcdServer started = shared;
    if (started == null) {
      started = start();
      shared = started;
    }
    return started;
  }

  /** Starts one; where there is none, the test is skipped, or on CI fails. */
  static EtcdServer start(String... arguments) {
    return EtcdServer.start(
        TestPrerequisites.required(EtcdServer.installed(), "The program etcd"), arguments);
  }
}
