package io.mortise.jdbc;

import io.mortise.testkit.TestPrerequisites;
import io.mortise.testserver.FakeClock;
import io.mortise.testserver.PostgresServer;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** The versions that the tests run against. Public, for the loaders of mutants. */
public enum PostgresServers {
  V14("postgres-old"),
  V18("postgres-new");

  private static final AtomicInteger NAMESPACES = new AtomicInteger();
  private static final Map<PostgresServers, PostgresServer> SHARED = new ConcurrentHashMap<>();

  private final String folder;

  PostgresServers(String folder) {
    this.folder = folder;
  }

  /** One that nobody in this JVM had before. */
  public static String namespace() {
    return "contract" + NAMESPACES.incrementAndGet();
  }

  /** The server of this version that all contract tests of the JVM share. */
  public PostgresServer shared() {
    return SHARED.computeIfAbsent(this, PostgresServers::start);
  }

  /** Starts one. Skips the test where there is no server for this machine, except on CI. */
  public PostgresServer start(String... arguments) {
    return PostgresServer.start(binaries(), arguments);
  }

  /** The same, with a clock that the test sets. */
  public PostgresServer start(FakeClock clock) {
    return PostgresServer.start(binaries(), clock);
  }

  /** Its programs. */
  public Path binaries() {
    return TestPrerequisites.required(
        PostgresServer.unpacked(Path.of(System.getProperty("mortise.servers", "target"), folder)),
        "PostgreSQL " + this);
  }
}
