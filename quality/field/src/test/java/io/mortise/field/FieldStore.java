package io.mortise.field;

import io.mortise.LockClient;
import io.mortise.testkit.TestPrerequisites;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testkit.server.LocalServer;
import io.mortise.testserver.ConsulServer;
import io.mortise.testserver.DynaliteServer;
import io.mortise.testserver.EtcdServer;
import io.mortise.testserver.H2Server;
import io.mortise.testserver.MariaDbServer;
import io.mortise.testserver.MemcachedServer;
import io.mortise.testserver.MySqlServer;
import io.mortise.testserver.NatsServer;
import io.mortise.testserver.PostgresServer;
import io.mortise.testserver.RedisServer;
import io.mortise.testserver.ZooKeeperServer;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/**
 * A store with its server. Reports about all stores are tested on each. Tests that disturb no other
 * share one server, which ends with the JVM. Thread-safe.
 */
enum FieldStore {
  /** One Redis. */
  REDIS(RedisServer.bundled().or(() -> RedisServer.installed(6)), RedisServer::start),
  /** PostgreSQL. */
  POSTGRESQL(PostgresServer.installed(), PostgresServer::start),
  /** MariaDB. */
  MARIADB(MariaDbServer.installed(), MariaDbServer::start),
  /** MySQL. */
  MYSQL(MySqlServer.bundled(), MySqlServer::start),
  /** H2, as a server. */
  H2(found(H2Server.isThere()), (program, arguments) -> H2Server.start()),
  /** One ZooKeeper. */
  ZOOKEEPER(found(true), (program, arguments) -> ZooKeeperServer.start()),
  /** One etcd. */
  ETCD(EtcdServer.installed(), EtcdServer::start),
  /** One Consul. */
  CONSUL(ConsulServer.installed(), ConsulServer::start),
  /** NATS with JetStream. */
  NATS(NatsServer.installed(), NatsServer::start),
  /** One memcached that does not evict. */
  MEMCACHED(
      MemcachedServer.installed(),
      (program, arguments) ->
          MemcachedServer.start(
              program,
              Stream.concat(Stream.of("-M"), Stream.of(arguments)).toArray(String[]::new))),
  /** An emulator of DynamoDB, which does not check credentials. */
  DYNAMODB(dynalite(), (program, arguments) -> DynaliteServer.start(program));

  private static final AtomicInteger NAMES = new AtomicInteger();
  private static final Map<FieldStore, LocalServer> SHARED = new EnumMap<>(FieldStore.class);

  static {
    System.setProperty("aws.accessKeyId", "test");
    System.setProperty("aws.secretAccessKey", "test");
  }

  private final Optional<Path> program;

  @SuppressWarnings("ImmutableEnumChecker") // Starters are stateless.
  private final BiFunction<Path, String[], LocalServer> starter;

  FieldStore(Optional<Path> program, BiFunction<Path, String[], LocalServer> starter) {
    this.program = program;
    this.starter = starter;
  }

  private static Optional<Path> found(boolean isThere) {
    return isThere ? Optional.of(Path.of("")) : Optional.empty();
  }

  private static Optional<Path> dynalite() {
    return DynaliteServer.install(Path.of("../../stores/dynamodb/src/test/dynalite"));
  }

  /** The server that all tests of the JVM share. No test may disturb it. */
  LocalServer shared() {
    synchronized (SHARED) {
      return SHARED.computeIfAbsent(this, FieldStore::start);
    }
  }

  /**
   * A server for one test. Without the program the test is skipped, or on CI fails.
   *
   * @param arguments of the program
   */
  LocalServer start(String... arguments) {
    LocalServer server = starter.apply(program(), arguments);
    if (this == DYNAMODB) {
      LockClient.connect(server.url() + "?create=true").close();
    }
    return server;
  }

  /**
   * The server's program. Without it the test is skipped; on CI it fails, unless a property
   * declares the program missing.
   */
  Path program() {
    String property = "mortise." + name().toLowerCase(Locale.ROOT);
    Assumptions.assumeFalse("none".equals(System.getProperty(property)), "SKIPPED: " + property);
    return TestPrerequisites.required(program, "A server for " + this);
  }

  /** A store in that server, unused in this JVM. */
  String newUrl(LocalServer server) {
    return with(server.url(), "namespace=field" + NAMES.incrementAndGet());
  }

  /** A store in the shared server, unused in this JVM. */
  String newUrl() {
    return newUrl(shared());
  }

  /** The URL with a further parameter. */
  static String with(String url, String parameter) {
    return url + (url.contains("?") ? '&' : '?') + parameter;
  }

  /** The same store through a proxy before its server. */
  static String through(FaultInjectionProxy proxy, LocalServer server, String url) {
    return url.replace(":" + server.port(), ":" + proxy.port());
  }
}
