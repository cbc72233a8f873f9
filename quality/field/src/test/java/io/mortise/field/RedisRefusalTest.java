package io.mortise.field;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.testkit.BoundedWait;
import io.mortise.testserver.RawRedisConnection;
import io.mortise.testserver.RedisServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A Redis that refuses requests, and proxies that support less than Redis. */
@Tag("extended")
class RedisRefusalTest {
  private static final Duration TTL = Duration.ofSeconds(30);

  private static RedisServer start(String... arguments) {
    return (RedisServer) FieldStore.REDIS.start(arguments);
  }

  private static LockClient client(String scheme, RedisServer server) {
    return LockClient.builder()
        .url(scheme + "://127.0.0.1:" + server.port() + "?timeout=4s")
        .ttl(TTL)
        .build();
  }

  private static void assertServedAgain(LockClient client) {
    BoundedWait.join(client.lock("again").acquireAsync(Trial.LONG)).close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"redis", "redis-plain"})
  @Report({"alisaifee/coredis#86"})
  void givenTooFewReplicas_thenARequestIsToldAsNotExecuted_andTheLeaseIsRenewedAfterwards(
      String scheme) {
    try (RedisServer server = start();
        LockClient client = client(scheme, server)) {
      Lease lease = BoundedWait.join(client.lock("held").acquireAsync());
      server.ask("CONFIG", "SET", "min-replicas-to-write", "1");
      assertThatThrownBy(() -> client.lock("new").tryAcquire())
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("NOREPLICAS")
          .satisfies(
              e ->
                  assertThat(String.valueOf(e.getMessage()))
                      .as("nothing was written")
                      .doesNotContain("may have been executed"));
      server.ask("CONFIG", "SET", "min-replicas-to-write", "0");
      assertServedAgain(client);
      assertThat(lease.isValid()).isTrue();
      lease.close();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"redis", "redis-plain"})
  @Report({"redis/ioredis#1348", "redis/node-redis#959", "redisson/redisson#1288"})
  void givenAllConnectionsTaken_thenOpeningSaysSo_andAnOpenClientConnectsWithPauses(String scheme)
      throws IOException {
    List<RawRedisConnection> others = new ArrayList<>();
    try (RedisServer server = start();
        RawRedisConnection admin = new RawRedisConnection(server.port());
        LockClient client = client(scheme, server)) {
      try (Lease lease = BoundedWait.join(client.lock("x").acquireAsync())) {
        assertThat(lease.isValid()).isTrue();
      }
      admin.call("CONFIG", "SET", "maxclients", "10");
      while (others.size() < 10) {
        others.add(new RawRedisConnection(server.port()));
      }
      assertThatThrownBy(() -> client(scheme, server).close())
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("max number of clients");
      String received = "total_connections_received:";
      long before = count(admin, received);
      admin.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
      admin.call("CONFIG", "SET", "maxclients", "1");
      BoundedWait.pass(Duration.ofSeconds(2));
      assertThat(count(admin, received) - before).isLessThan(30);
      admin.call("CONFIG", "SET", "maxclients", "100");
      assertServedAgain(client);
    } finally {
      for (RawRedisConnection other : others) {
        other.close();
      }
    }
  }

  private static long count(RawRedisConnection admin, String field) {
    return String.valueOf(admin.call("INFO", "stats"))
        .lines()
        .filter(line -> line.startsWith(field))
        .mapToLong(line -> Long.parseLong(line.substring(field.length()).trim()))
        .sum();
  }

  @ParameterizedTest
  @ValueSource(strings = {"redis", "redis-plain"})
  @Report({"redis/redis#9618", "valkey-io/valkey#821"})
  void givenServerThatPausesWritesForAFailover_thenTriesEnd_andTheLeaseIsKept(String scheme)
      throws InterruptedException {
    try (RedisServer server = start();
        LockClient client = client(scheme, server);
        LockClient other = client(scheme, server)) {
      Lease lease = BoundedWait.join(client.lock("held").acquireAsync());
      server.ask("CLIENT", "PAUSE", "6000", "WRITE");
      assertThatThrownBy(() -> client.lock("late").tryAcquire())
          .isInstanceOf(StoreUnavailableException.class);
      assertServedAgain(client);
      assertThat(lease.isValid()).isTrue();
      assertThat(other.lock("late").tryAcquire(TTL))
          .as("what was given up is not held")
          .isPresent();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"redis", "redis-plain"})
  @Report({
    "StackExchange/StackExchange.Redis#2518",
    "OptimalBits/bull#540",
    "redis/redis#13444",
  })
  void givenSnapshotThatCannotBeWritten_thenLocksAreRefusedAsNotExecuted_untilItCan(String scheme)
      throws IOException {
    try (RedisServer server = start();
        LockClient client = client(scheme, server)) {
      Lease lease = BoundedWait.join(client.lock("held").acquireAsync());
      List<String> folder = server.ask("CONFIG", "GET", "dir");
      List<String> file = server.ask("CONFIG", "GET", "dbfilename");
      Path inTheWay = Path.of(folder.get(1)).resolve(file.get(1));
      Files.deleteIfExists(inTheWay);
      Files.createDirectory(inTheWay);
      server.ask("CONFIG", "SET", "save", "3600 1");
      server.ask("BGSAVE");
      BoundedWait.until(
          Trial.LONG, "the snapshot fails", () -> server.says("rdb_last_bgsave_status", "err"));
      assertThatThrownBy(() -> client.lock("new").tryAcquire())
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("MISCONF")
          .satisfies(
              e ->
                  assertThat(String.valueOf(e.getMessage()))
                      .as("nothing was written")
                      .doesNotContain("may have been executed"));
      Files.delete(inTheWay);
      server.ask("BGSAVE");
      assertServedAgain(client);
      assertThat(lease.isValid()).isTrue();
    }
  }

  /** Answers each connection in one way, and closes it. */
  private static final class Proxy implements AutoCloseable {
    private final ServerSocket listening =
        new ServerSocket(0, 50, InetAddress.getLoopbackAddress());

    Proxy(String answer) throws IOException {
      Thread accepting =
          new Thread(
              () -> {
                while (!listening.isClosed()) {
                  try (Socket client = listening.accept();
                      InputStream in = client.getInputStream();
                      OutputStream out = client.getOutputStream()) {
                    if (in.read() >= 0) {
                      out.write(answer.getBytes(StandardCharsets.US_ASCII));
                    }
                  } catch (IOException e) {
                    // The client has disconnected, or the test is over.
                  }
                }
              },
              "field-proxy");
      accepting.setDaemon(true);
      accepting.start();
    }

    @Override
    public void close() throws IOException {
      listening.close();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"redis", "redis-plain"})
  @Report({"twitter/twemproxy#113", "twitter/twemproxy#432", "twitter/twemproxy#374"})
  void givenProxyThatEndsTheConnectionAtACommand_thenOpeningNamesTheCommand(String scheme)
      throws IOException {
    try (Proxy proxy = new Proxy("")) {
      String url = scheme + "://127.0.0.1:" + proxy.listening.getLocalPort() + "?timeout=10s";
      assertThatThrownBy(() -> LockClient.connect(url).close())
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("HELLO")
          .hasMessageContaining("proxy");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"redis", "redis-plain"})
  @Report("envoyproxy/envoy#17571")
  void givenProxyThatDoesNotSupportACommand_thenTheStoreIsUnfitByItsName(String scheme)
      throws IOException {
    try (Proxy proxy = new Proxy("-unsupported command 'HELLO'\r\n")) {
      String url = scheme + "://127.0.0.1:" + proxy.listening.getLocalPort() + "?timeout=10s";
      assertThatThrownBy(() -> LockClient.connect(url).close())
          .isInstanceOf(StoreUnfitException.class)
          .hasMessageContaining("HELLO");
    }
  }
}
