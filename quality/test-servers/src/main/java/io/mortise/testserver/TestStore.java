package io.mortise.testserver;

import io.mortise.annotation.Beta;
import io.mortise.testkit.TestPrerequisites;
import io.mortise.testkit.server.ServerProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Stores for tests of code that uses locks through the public API. A server starts on first use,
 * serves all tests of the JVM, and ends with it. Thread-safe.
 *
 * <p>The stores' modules and drivers must be on the class path.
 */
@Beta
public enum TestStore {
  /** In memory. */
  MEMORY,
  /** A SQLite file in the temporary folder, deleted when the JVM ends. */
  SQLITE,
  /** A PostgreSQL server from the PATH. */
  POSTGRESQL,
  /** A Redis server: the one that the artifact embedded-redis carries, or else from the PATH. */
  REDIS,
  /** An etcd server from the PATH. */
  ETCD,
  /** A Consul server from the PATH. */
  CONSUL,
  /** A NATS server from the PATH. */
  NATS,
  /** Dynalite, from npm, for modules of this build. */
  DYNAMODB,
  /** A ZooKeeper server from the class path. */
  ZOOKEEPER;

  private static final AtomicInteger NAMES = new AtomicInteger();
  private static final Map<TestStore, String> OPENED = new EnumMap<>(TestStore.class);

  /**
   * Returns the URL of an empty store, unused in this JVM: another namespace, or another file.
   * Blocks while a server starts.
   *
   * @throws org.opentest4j.TestAbortedException if there is no server on this machine
   * @throws AssertionError if there is none, with {@code -Dmortise.ci=true}
   */
  public String newUrl() {
    String name = "test" + NAMES.incrementAndGet();
    return switch (this) {
      case MEMORY -> "mem:" + name;
      case SQLITE -> "jdbc:sqlite:" + opened() + "/" + name + ".db";
      case POSTGRESQL -> opened() + "&max-in-flight=20s&namespace=" + name;
      case REDIS, ETCD, CONSUL, NATS -> opened() + "?timeout=20s&namespace=" + name;
      case ZOOKEEPER -> opened() + "?tick=100ms&timeout=20s&namespace=" + name;
      case DYNAMODB -> opened() + "?create=true&poll=20ms&timeout=20s&namespace=" + name;
    };
  }

  private String opened() {
    synchronized (OPENED) {
      return OPENED.computeIfAbsent(this, TestStore::open);
    }
  }

  private static String open(TestStore store) {
    return switch (store) {
      case MEMORY -> "";
      case SQLITE -> folder().toString();
      case POSTGRESQL -> PostgresServer.start(required(PostgresServer.installed(), store)).url();
      case REDIS ->
          RedisServer.start(
                  required(RedisServer.bundled().or(() -> RedisServer.installed(6)), store))
              .url();
      case ETCD -> EtcdServer.start(required(EtcdServer.installed(), store)).url();
      case CONSUL -> ConsulServer.start(required(ConsulServer.installed(), store)).url();
      case NATS -> NatsServer.start(required(NatsServer.installed(), store)).url();
      case ZOOKEEPER ->
          ZooKeeperServer.start(
                  ZooKeeperServer.Setup.single()
                      .with("tickTime", "100")
                      .withProperty("zookeeper.forceSync", "no"))
              .url();
      case DYNAMODB -> {
        // The emulator does not check them.
        System.setProperty("aws.accessKeyId", "test");
        System.setProperty("aws.secretAccessKey", "test");
        Path packages = Path.of("../../stores/dynamodb/src/test/dynalite");
        yield DynaliteServer.start(required(DynaliteServer.install(packages), store)).url();
      }
    };
  }

  private static Path required(Optional<Path> program, TestStore store) {
    return TestPrerequisites.required(program, "A server for " + store);
  }

  private static Path folder() {
    try {
      Path folder = Files.createTempDirectory("mortise-sqlite");
      Runtime.getRuntime()
          .addShutdownHook(new Thread(() -> ServerProcess.deleteTree(folder), "sqlite-files-end"));
      return folder;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
