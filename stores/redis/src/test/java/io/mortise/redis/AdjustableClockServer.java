package io.mortise.redis;

import io.mortise.testkit.TestPrerequisites;
import io.mortise.testserver.FakeClock;
import io.mortise.testserver.RedisServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A server whose clock a test sets forward, shared by all tests of the JVM. Public, for the loaders
 * of mutants.
 */
public final class AdjustableClockServer {
  private static @Nullable AdjustableClockServer shared;

  private final FakeClock clock;
  private final RedisServer server;
  private volatile Duration passed = Duration.ZERO;

  private AdjustableClockServer(FakeClock clock, Path program) {
    this.clock = clock;
    this.server = RedisServer.start(clock.over(program));
    Runtime.getRuntime().addShutdownHook(new Thread(clock::close));
  }

  /** If there is none, the test is skipped, or on CI fails. */
  public static synchronized AdjustableClockServer shared() {
    if (shared == null) {
      // The build without jemalloc, which reads the clock before libfaketime is ready.
      Path program = TestPrerequisites.required(RedisServer.bundled(), "The Redis server");
      shared =
          new AdjustableClockServer(
              TestPrerequisites.required(FakeClock.installed(), "libfaketime"), program);
    }
    return shared;
  }

  /** Empty if no test has needed it yet. */
  public static synchronized Optional<RedisServer> started() {
    return Optional.ofNullable(shared).map(AdjustableClockServer::server);
  }

  /** The server that runs by this clock. */
  public RedisServer server() {
    return server;
  }

  /** How far the clock was set forward. */
  public Duration passed() {
    return passed;
  }

  /** Sets the clock forward. */
  public void pass(Duration time) {
    passed = passed.plus(time);
    clock.set(passed);
  }
}
