package io.mortise.etcd;

import io.mortise.testkit.TestPrerequisites;
import io.mortise.testserver.EtcdServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The servers that tests run against: {@code etcd} of the PATH, or with {@code -Dmortise.etcd=…}
 * another program; and etcd 3.5, which {@code -Dmortise.etcd35=…} names.
 */
final class EtcdServers {
  private static final AtomicInteger NAMESPACES = new AtomicInteger();

  private static @Nullable EtcdServer shared;
  private static @Nullable EtcdServer later;

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

  /** The same of etcd 3.5. */
  static synchronized EtcdServer later() {
    EtcdServer started = later;
    if (started == null) {
      started =
          EtcdServer.start(
              TestPrerequisites.required(
                  named("mortise.etcd35"), "Etcd 3.5, named by -Dmortise.etcd35,"));
      later = started;
    }
    return started;
  }

  /** As when the shared server's database has reached its quota. */
  static Runnable forbidWrites() {
    setAlarm("ACTIVATE");
    return () -> setAlarm("DEACTIVATE");
  }

  private static void setAlarm(String action) {
    shared()
        .post(
            "/v3/maintenance/alarm",
            "{\"action\":\"%s\",\"memberID\":1,\"alarm\":\"NOSPACE\"}".formatted(action));
  }

  private static Optional<Path> named(String property) {
    return Optional.ofNullable(System.getProperty(property))
        .map(Path::of)
        .filter(Files::isExecutable);
  }

  /** The program; where there is none, the test is skipped, or on CI fails. */
  static Path program() {
    return TestPrerequisites.required(
        named("mortise.etcd").or(EtcdServer::installed), "The program etcd");
  }

  /** Starts one. */
  static EtcdServer start(String... arguments) {
    return EtcdServer.start(program(), arguments);
  }
}
