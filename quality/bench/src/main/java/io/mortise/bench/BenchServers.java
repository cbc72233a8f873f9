package io.mortise.bench;

import io.mortise.bench.subject.StoreUrls;
import io.mortise.bench.subject.Subjects.SubjectStore;
import io.mortise.testserver.ConsulServer;
import io.mortise.testserver.EtcdServer;
import io.mortise.testserver.MariaDbServer;
import io.mortise.testserver.MemcachedServer;
import io.mortise.testserver.MySqlServer;
import io.mortise.testserver.NatsServer;
import io.mortise.testserver.PostgresServer;
import io.mortise.testserver.RedisServer;
import io.mortise.testserver.ZooKeeperServer;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The servers of a run: named ones, else servers started here. For one thread. */
final class BenchServers implements AutoCloseable {
  private final Map<SubjectStore, String> named;
  private final Path folder;
  private final Map<SubjectStore, String> urls = new EnumMap<>(SubjectStore.class);
  private final List<String> described = new ArrayList<>();
  private final Deque<Runnable> ends = new ArrayDeque<>();

  /**
   * @param named URLs of running servers
   * @param folder the folder for files of started servers
   */
  BenchServers(Map<SubjectStore, String> named, Path folder) {
    this.named = named;
    this.folder = folder;
  }

  /** Makes a store available: starts its server if it is not named. Blocks. */
  void want(SubjectStore storeKind) {
    if (storeKind == SubjectStore.PROCESS) {
      return;
    }
    String own = named.get(storeKind);
    urls.put(storeKind, own == null ? start(storeKind) : own);
    described.add(
        storeKind.name().toLowerCase(Locale.ROOT) + (own == null ? " of its own" : " of yours"));
  }

  private String start(SubjectStore storeKind) {
    return switch (storeKind) {
      case SQLITE -> "jdbc:sqlite:" + folder.resolve("bench.db");
      case REDIS -> {
        RedisServer redis =
            RedisServer.start(
                RedisServer.installed(7)
                    .or(RedisServer::bundled)
                    .orElseThrow(() -> missing("redis-server 7")));
        ends.push(redis::close);
        yield redis.url();
      }
      case POSTGRESQL -> {
        PostgresServer postgres =
            PostgresServer.start(
                PostgresServer.installed().orElseThrow(() -> missing("postgres and initdb")),
                // One for each thread of several subjects.
                "-c",
                "max_connections=400");
        ends.push(postgres::close);
        yield postgres.url();
      }
      case MARIADB -> {
        MariaDbServer mariadb =
            MariaDbServer.start(MariaDbServer.installed().orElseThrow(() -> missing("mariadbd")));
        ends.push(mariadb::close);
        yield mariadb.url();
      }
      case MYSQL -> {
        MySqlServer mysql =
            MySqlServer.start(MySqlServer.bundled().orElseThrow(() -> missing("mysqld 8.0")));
        ends.push(mysql::close);
        // MariaDB's driver asks for it, on a connection without TLS.
        yield mysql.url() + "&allowPublicKeyRetrieval=true";
      }
      case ZOOKEEPER -> {
        ZooKeeperServer zooKeeper =
            ZooKeeperServer.start(
                // With its default settings, not with those for tests.
                ZooKeeperServer.Setup.single()
                    .with("tickTime", "2000")
                    .with("maxSessionTimeout", "40000")
                    .withOptions(List.of("-Xmx512m", "-XX:+UseSerialGC")));
        ends.push(zooKeeper::close);
        yield zooKeeper.url();
      }
      case ETCD -> {
        EtcdServer etcd =
            EtcdServer.start(EtcdServer.installed().orElseThrow(() -> missing("etcd")));
        ends.push(etcd::close);
        yield etcd.url();
      }
      case NATS -> {
        NatsServer nats =
            NatsServer.start(NatsServer.installed().orElseThrow(() -> missing("nats-server")));
        ends.push(nats::close);
        yield nats.url();
      }
      case CONSUL -> {
        ConsulServer consul =
            ConsulServer.start(ConsulServer.installed().orElseThrow(() -> missing("consul")));
        ends.push(consul::close);
        yield consul.url();
      }
      case MEMCACHED -> {
        MemcachedServer memcached =
            MemcachedServer.start(
                MemcachedServer.installed().orElseThrow(() -> missing("memcached")), "-M");
        ends.push(memcached::close);
        yield memcached.url();
      }
      case DYNAMODB ->
          throw new IllegalStateException(
              "The benchmark starts no emulator of DynamoDB. Name one with --server"
                  + " dynamodb=dynamodb://host:port/table, or choose other --stores.");
      case PROCESS -> throw new IllegalArgumentException("Needs no server.");
    };
  }

  private static IllegalStateException missing(String program) {
    return new IllegalStateException(
        "There is no "
            + program
            + " on the PATH. Install it, name a running server with --server, or choose other"
            + " --stores.");
  }

  StoreUrls stores() {
    return new StoreUrls(urls);
  }

  String described() {
    return String.join(", ", described);
  }

  @Override
  public void close() {
    while (!ends.isEmpty()) {
      ends.pop().run();
    }
  }
}
