package io.mortise.nats;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockException;
import io.mortise.StoreUnavailableException;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.RerunIfPaused;
import io.mortise.testkit.contract.client.NetworkContract;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testserver.NatsServer;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** Networks between a client and its server. */
@Isolated("sets system properties")
@Tag("extended")
class NatsNetworkTest extends NetworkContract {
  private static final Duration LONG = BoundedWait.scaled(Duration.ofSeconds(30));

  NatsNetworkTest() {
    super(
        () -> NatsServers.shared().url() + "?namespace=network", "timeout", Duration.ofSeconds(1));
  }

  /** Three pings without an answer end a connection. */
  @Override
  protected Duration idle() {
    return Duration.ofSeconds(8);
  }

  @AfterEach
  void reset() {
    System.clearProperty("socksProxyHost");
    System.clearProperty("socksProxyPort");
  }

  /** Pings of the library would need three times the timeout. */
  @Test
  @RerunIfPaused
  void givenConnectionThatAFirewallForgot_whenATryIsNotAnswered_thenTheNextOneIs()
      throws Exception {
    try (NatsServer server = NatsServers.start();
        FaultInjectionProxy proxy = FaultInjectionProxy.to(server.port());
        LockClient client =
            LockClient.connect("nats://127.0.0.1:" + proxy.port() + "?timeout=4s")) {
      client.lock("a").acquireWithin(LONG).close();
      proxy.halfOpen();
      assertThatThrownBy(() -> client.lock("a").tryAcquire())
          .isInstanceOf(StoreUnavailableException.class)
          // The engine's limit and the store's are the same, and either may be first.
          .hasMessageMatching(".*answer (within|for) 4s.*");
      try (Lease lease = client.lock("a").acquireWithin(Duration.ofSeconds(6))) {
        lease.ensureValid();
      }
    }
  }

  @Test
  void givenAddressThatLeadsToAnotherSystemAndBack_thenLocksAreRefusedByName() throws Exception {
    try (NatsServer one = NatsServers.start();
        NatsServer other = NatsServers.start();
        FaultInjectionProxy proxy = FaultInjectionProxy.to(one.port());
        LockClient client =
            LockClient.builder()
                .url("nats://127.0.0.1:" + proxy.port() + "?timeout=4s")
                .ttl(Duration.ofSeconds(20))
                .build()) {
      client.lock("a").acquireWithin(LONG).close();
      proxy.lead(other.port());
      // It may be another one that is meant, as after a loss of all data.
      BoundedWait.until(LONG, "the other grants", () -> isGranted(client, other));
      proxy.lead(one.port());
      BoundedWait.until(
          LONG,
          "locks were refused by name",
          () -> refusal(client).contains("Connections lead to different systems of NATS"));
    }
  }

  /** The refusal of a lock; empty if it was granted. */
  private static String refusal(LockClient client) {
    try {
      client.lock("a").acquireWithin(LONG).close();
      return "";
    } catch (LockException e) {
      return String.valueOf(e.getMessage());
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static boolean isGranted(LockClient client, NatsServer by) {
    try {
      client.lock("a").acquireAsync(LONG).join().close();
      return by.ask("$JS.API.STREAM.NAMES", "").contains("\"KV_");
    } catch (RuntimeException e) {
      return false;
    }
  }

  @Test
  void givenProxyOfTheJvm_thenItIsNotUsed() throws Exception {
    try (NatsServer server = NatsServers.start()) {
      System.setProperty("socksProxyHost", "127.0.0.1");
      System.setProperty("socksProxyPort", "1");
      try (LockClient client = LockClient.connect("nats://127.0.0.1:" + server.port())) {
        client.lock("a").acquireWithin(LONG).close();
      }
    }
  }
}
