package io.mortise.redis;

import io.mortise.testkit.TestPrerequisites;
import io.mortise.testkit.server.RedisServer;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/**
 * The servers that tests run against: Redis 6.2 from a Maven artifact, a later one and Valkey from
 * the PATH. Public, for the loaders of mutants.
 */
public enum RedisServers {
  REDIS_6 {
    @Override
    Optional<Path> find() {
      return RedisServer.bundled();
    }
  },
  REDIS_7 {
    @Override
    Optional<Path> find() {
      return LATER_IS_VALKEY ? RedisServer.valkey(8) : RedisServer.installed(7);
    }
  },
  VALKEY_8 {
    @Override
    Optional<Path> find() {
      return RedisServer.valkey(8);
    }
  };

  /** With {@code -Dmortise.redis.later=valkey} all tests of the later Redis run on Valkey. */
  private static final boolean LATER_IS_VALKEY =
      "valkey".equals(System.getProperty("mortise.redis.later"));

  private static final AtomicInteger NAMESPACES = new AtomicInteger();
  private static final Map<RedisServers, RedisServer> SHARED = new ConcurrentHashMap<>();

  abstract Optional<Path> find();

  /** One that nobody in this JVM had before. */
  public static String namespace() {
    return "contract" + NAMESPACES.incrementAndGet();
  }

  /** The server of this version that all tests of the JVM share. */
  public RedisServer shared() {
    return SHARED.computeIfAbsent(
        this, missing -> start("--appendonly", "yes", "--appendfsync", "everysec"));
  }

  /** Starts one; where there is none, the test is skipped, or on CI fails. */
  public RedisServer start(String... arguments) {
    return RedisServer.start(binary(), arguments);
  }

  /** Its program; where there is none, the test is skipped, or on CI fails. */
  public Path binary() {
    return TestPrerequisites.required(find(), "The server for " + this);
  }

  /** The best that this machine has, for tests that do not depend on the version. */
  public static RedisServer any(String... arguments) {
    return Stream.of(REDIS_7, REDIS_6)
        .filter(server -> server.find().isPresent())
        .findFirst()
        .orElse(REDIS_6)
        .start(arguments);
  }
}
