package io.mortise.redis;

import io.mortise.testkit.TestPrerequisites;
import io.mortise.testserver.RedisServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/**
 * The servers that tests run against: Redis 6.2 from a Maven artifact, later ones and Valkey from
 * the PATH. A property names another program, as {@code -Dmortise.redis7=…}; with {@code none} its
 * tests are skipped, on CI too. Public, for the loaders of mutants.
 */
public enum RedisServers {
  REDIS_6("mortise.redis6", RedisServer::bundled),
  REDIS_7("mortise.redis7", () -> RedisServer.installed(7)),
  REDIS_8("mortise.redis8", () -> RedisServer.installed(8)),
  VALKEY_8("mortise.valkey8", () -> RedisServer.valkey(8)),
  VALKEY_8_1("mortise.valkey81", Optional::empty);

  private static final AtomicInteger NAMESPACES = new AtomicInteger();
  private static final Map<RedisServers, RedisServer> SHARED = new ConcurrentHashMap<>();

  private final String property;

  @SuppressWarnings("ImmutableEnumChecker") // It has no state.
  private final Supplier<Optional<Path>> installed;

  RedisServers(String property, Supplier<Optional<Path>> installed) {
    this.property = property;
    this.installed = installed;
  }

  private Optional<Path> find() {
    String named = System.getProperty(property);
    return named == null
        ? installed.get()
        : Optional.of(Path.of(named)).filter(Files::isExecutable);
  }

  /** A namespace that is new in this JVM. */
  public static String namespace() {
    return "contract" + NAMESPACES.incrementAndGet();
  }

  /** The server of this version that all tests of the JVM share. */
  public RedisServer shared() {
    return SHARED.computeIfAbsent(
        this, missing -> start("--appendonly", "yes", "--appendfsync", "everysec"));
  }

  /**
   * Makes the shared server a replica of an absent master; returns a task that makes it a primary
   * again.
   */
  Optional<Runnable> forbidWrites() {
    shared().ask("REPLICAOF", "127.0.0.1", "1");
    return Optional.of(() -> shared().ask("REPLICAOF", "NO", "ONE"));
  }

  /** The running servers that all tests of the JVM share. */
  static Collection<RedisServer> started() {
    return List.copyOf(SHARED.values());
  }

  /** Starts a server; if it is not installed, the test is skipped, or on CI fails. */
  public RedisServer start(String... arguments) {
    return RedisServer.start(binary(), arguments);
  }

  /** Its program; if there is none, the test is skipped, or on CI fails. */
  public Path binary() {
    Assumptions.assumeFalse(
        "none".equals(System.getProperty(property)),
        () -> "SKIPPED: there is no " + this + " here.");
    return TestPrerequisites.required(find(), "The server for " + this);
  }

  /** The newest server on this machine, for tests that do not depend on the version. */
  public static RedisServer any(String... arguments) {
    return Stream.of(REDIS_7, REDIS_6)
        .filter(server -> server.find().isPresent())
        .findFirst()
        .orElse(REDIS_6)
        .start(arguments);
  }
}
