package io.mortise.jdbc;

import io.mortise.testkit.server.FakeClock;
import io.mortise.testkit.server.PostgresServer;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;

/** The versions that the tests run against. */
enum PostgresServers {
  V14("postgres-old"),
  V18("postgres-new");

  private final String folder;

  PostgresServers(String folder) {
    this.folder = folder;
  }

  /** Starts one. Skips the test where there is no server for this machine, except on CI. */
  PostgresServer start(String... arguments) {
    return PostgresServer.start(binaries(), arguments);
  }

  /** The same, with a clock that the test sets. */
  PostgresServer start(FakeClock clock) {
    return PostgresServer.start(binaries(), clock);
  }

  /** Its programs. */
  Path binaries() {
    Optional<Path> binaries =
        PostgresServer.unpacked(Path.of(System.getProperty("mortise.servers", "target"), folder));
    if (binaries.isEmpty() && Boolean.getBoolean("mortise.ci")) {
      throw new AssertionError("PostgreSQL " + this + " is missing, and CI may not skip it.");
    }
    Assumptions.assumeTrue(
        binaries.isPresent(), () -> "SKIPPED: no PostgreSQL " + this + " for this machine.");
    return binaries.orElseThrow();
  }
}
