package io.mortise.redis;

import io.mortise.testkit.server.FakeClock;
import io.mortise.testkit.server.RedisServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;

/**
 * A server whose clock a test moves on, shared by all tests of the JVM. Public, for the loaders of
 * mutants.
 */
public final class MovedServer {
  private static @Nullable MovedServer shared;

  private final FakeClock clock;
  private final RedisServer server;
  private volatile Duration passed = Duration.ZERO;

  private MovedServer(FakeClock clock, Path binary) {
    this.clock = clock;
    this.server = RedisServer.start(clock, binary);
  }

  /** Where there is none, the test is skipped, or on CI fails. */
  public static synchronized MovedServer shared() {
    if (shared == null) {
      Optional<FakeClock> installed = FakeClock.installed();
      // The one without jemalloc, which reads the clock before libfaketime is ready.
      Optional<Path> binary = RedisServer.bundled();
      if ((installed.isEmpty() || binary.isEmpty()) && Boolean.getBoolean("mortise.ci")) {
        throw new AssertionError(
            "libfaketime or the Redis server is missing, and CI may not skip it.");
      }
      Assumptions.assumeTrue(installed.isPresent(), "SKIPPED: libfaketime is not installed.");
      Assumptions.assumeTrue(binary.isPresent(), "SKIPPED: no Redis server for this machine.");
      shared = new MovedServer(installed.orElseThrow(), binary.orElseThrow());
    }
    return shared;
  }

  /** Empty if no test has needed it yet. */
  public static synchronized Optional<RedisServer> started() {
    return Optional.ofNullable(shared).map(MovedServer::server);
  }

  /** Sees that clock. */
  public RedisServer server() {
    return server;
  }

  /** How far its clock was moved. */
  public Duration passed() {
    return passed;
  }

  /** Moves it on. */
  public void pass(Duration time) {
    passed = passed.plus(time);
    clock.set(passed);
  }
}
