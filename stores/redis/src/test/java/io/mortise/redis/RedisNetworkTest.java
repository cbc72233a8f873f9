package io.mortise.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.LockClient;
import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.contract.client.NetworkContract;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testserver.RedisServer;
import java.time.Duration;
import java.util.Comparator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Redis over faulty networks, or networks that lead to the wrong server. */
@Tag("extended")
class RedisNetworkTest extends NetworkContract {
  private static final Duration LONG = Duration.ofSeconds(30);

  private static RedisServer server;

  @BeforeAll
  static void startServer() {
    server = RedisServers.any();
  }

  @AfterAll
  static void closeServer() {
    server.close();
  }

  RedisNetworkTest() {
    super(() -> server.url(), "timeout", Duration.ofSeconds(1));
  }

  private LockClient client(FaultInjectionProxy way) {
    return LockClient.builder().url(url(way.port())).ttl(Duration.ofSeconds(10)).build();
  }

  @ParameterizedTest
  @ValueSource(strings = {"redis", "redis-plain"})
  void givenAddressThatLeadsToTwoServers_whenOpened_thenItIsUnfitByName(String scheme) {
    try (RedisServer other = RedisServers.any();
        FaultInjectionProxy way = FaultInjectionProxy.to(server.port())) {
      way.spread(server.port(), other.port());
      long began = System.nanoTime();
      assertThatThrownBy(() -> LockClient.connect(scheme + "://127.0.0.1:" + way.port()).close())
          .isInstanceOf(StoreUnfitException.class)
          .hasMessageContaining("different servers at one time")
          .hasMessageContaining("or a redis-sentinel or redis-cluster URL.");
      assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(LONG);
    }
  }

  @Test
  void givenAddressThatComesToLeadToTwoServers_thenNothingIsServed_untilItLeadsToOne() {
    try (RedisServer other = RedisServers.any();
        FaultInjectionProxy way = FaultInjectionProxy.to(server.port());
        LockClient client = client(way)) {
      client.lock("x").tryAcquire().orElseThrow().close();
      way.spread(other.port(), server.port());
      BoundedWait.until(
          LONG,
          "it was refused by name",
          () -> {
            String refusal = refusal(client);
            if (refusal.isEmpty()) {
              // One of the connections breaks, the other stays. If both then lead to the same
              // server, nothing is to be refused, and one breaks again.
              killOneConnection(server);
              killOneConnection(other);
            }
            return refusal.contains("different");
          });
      long before = commands(server) + commands(other);
      BoundedWait.pass(Duration.ofSeconds(2));
      assertThat(commands(server) + commands(other) - before).as("commands").isLessThan(400);
      way.lead(server.port());
      BoundedWait.until(LONG, "it was served again", () -> refusal(client).isEmpty());
    }
  }

  @Test
  void givenServerThatIsReplacedByAnother_thenBothConnectionsFollow() throws Exception {
    try (RedisServer other = RedisServers.any();
        FaultInjectionProxy way = FaultInjectionProxy.to(server.port());
        LockClient client = client(way)) {
      client.lock("x").tryAcquire().orElseThrow().close();
      // As after a failover: new connections lead elsewhere, where the old primary is a replica.
      way.spread(other.port());
      server.ask("REPLICAOF", "127.0.0.1", Integer.toString(other.port()));
      killOneConnection(server);
      BoundedWait.until(LONG, "it was served again", () -> refusal(client).isEmpty());
    } finally {
      server.ask("REPLICAOF", "NO", "ONE");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"HELLO", "EVALSHA", "SCRIPT", "INFO", "TIME"})
  void givenServerWithoutACommand_whenOpened_thenItIsUnfitByTheNameOfThat(String command) {
    try (RedisServer without = RedisServers.any("--rename-command", command, "")) {
      assertThatThrownBy(() -> RedisStore.open(without.url()).close())
          .isInstanceOf(StoreUnfitException.class)
          .hasMessageContaining(command);
    }
  }

  @Test
  void givenUserWhoLosesTheRightToACommand_thenTheStoreIsUnfitByItsName() throws Exception {
    try (RedisServer own = RedisServers.any();
        LockClient client = LockClient.connect(own.url())) {
      client.lock("x").tryAcquire().orElseThrow().close();
      own.ask("ACL", "SETUSER", "default", "-evalsha");
      BoundedWait.until(LONG, "it was unfit by name", () -> refusal(client).contains("EVALSHA"));
    }
  }

  /**
   * As an operator does: kills the client's latest connection to the server, if any. Older ones may
   * be from a test before.
   */
  private static void killOneConnection(RedisServer of) {
    of.ask("CLIENT", "LIST").stream()
        .flatMap(String::lines)
        .filter(line -> line.contains("name=mortise"))
        .map(line -> line.replaceFirst("^id=(\\d+) .*", "$1"))
        .max(Comparator.comparingLong(Long::parseLong))
        .ifPresent(last -> of.ask("CLIENT", "KILL", "ID", last));
  }

  private static long commands(RedisServer one) {
    return Long.parseLong(one.info("total_commands_processed"));
  }

  private static String refusal(LockClient client) {
    try {
      return client
          .lock("x")
          .tryAcquire()
          .map(
              lease -> {
                lease.close();
                return "";
              })
          .orElse("busy");
    } catch (StoreUnavailableException | StoreUnfitException e) {
      return String.valueOf(e.getMessage());
    }
  }
}
