package io.mortise.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.spi.ClientLabel;
import io.mortise.spi.LockStore;
import io.mortise.spi.Renewal;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreSession;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.RerunIfPaused;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testkit.server.FaultInjectionProxy.NetworkCondition;
import io.mortise.testserver.ZooKeeperServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletionStage;
import java.util.regex.Pattern;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The cost of renewals by the server's count, without other clients. */
@Tag("extended")
class RenewalTrafficTest {
  private static final Pattern RECEIVED = Pattern.compile("recved=(\\d+)");

  private ZooKeeperServer server;
  private FaultInjectionProxy line;

  @BeforeEach
  void start() {
    server = ZooKeeperServer.start(TestServer.setup());
    line = FaultInjectionProxy.to(server.port());
  }

  @AfterEach
  void stop() {
    line.close();
    server.close();
  }

  /** Packets of all clients, including pings. */
  private long received() {
    return RECEIVED
        .matcher(server.ask("cons"))
        .results()
        .mapToLong(found -> Long.parseLong(found.group(1)))
        .sum();
  }

  private static StoreSession session(LockStore store, Duration ttl) {
    SessionSpec spec =
        new SessionSpec(
            SessionId.random(new Random()), ttl, new ClientLabel("host", 1, "renewals"));
    return store.open(spec, notifications -> {});
  }

  @Test
  @RerunIfPaused
  void givenSessionThatIsRenewed_thenARenewalTakesThreePacketsAtMost() {
    int renewals = 3;
    try (LockStore store = open()) {
      StoreSession session = session(store, Duration.ofSeconds(4));
      assertThat(BoundedWait.join(session.renew(0, 1, List.of())))
          .isInstanceOf(Renewal.Renewed.class);
      long before = received();
      long since = System.nanoTime();
      for (int beat = 1; beat <= renewals; beat++) {
        BoundedWait.pass(Duration.ofMillis(1300));
        assertThat(BoundedWait.join(session.renew(beat, beat + 1, List.of())))
            .isInstanceOf(Renewal.Renewed.class);
      }
      long after = received();
      // The two connections send pings as well, each after an idle second.
      long pings = 2 + 2 * Duration.ofNanos(System.nanoTime() - since).toSeconds();
      assertThat(after - before).isBetween((long) renewals, 3L * renewals + pings);
    }
  }

  @Test
  void givenSessionThatWasAskedForOftenUntilItOpened_thenThatCostsLittle() {
    try (LockStore store = open()) {
      line.condition(NetworkCondition.FROZEN);
      StoreSession session = session(store, Duration.ofMinutes(1));
      List<CompletionStage<Renewal>> asked = new ArrayList<>();
      for (int i = 0; i < 40; i++) {
        asked.add(session.renew(0, 1, List.of()));
      }
      long before = received();
      line.condition(NetworkCondition.FAIR);
      asked.forEach(
          answer -> assertThat(BoundedWait.join(answer)).isInstanceOf(Renewal.Renewed.class));
      assertThat(BoundedWait.join(session.renew(1, 2, List.of())))
          .isInstanceOf(Renewal.Renewed.class);
      assertThat(received() - before).isLessThan(40);
    }
  }

  /** For a client that was handed in, the start of its session is unknown. */
  @Test
  void givenManyRenewalsAtOnce_andNothingKnownBefore_thenEachEnds_andCostsFourPacketsAtMost()
      throws Exception {
    int renewals = 40;
    ZooKeeper client = TestServer.connect("127.0.0.1:" + line.port(), Duration.ofMinutes(3));
    try (LockStore store = over(client)) {
      StoreSession session = session(store, Duration.ofMinutes(1));
      long before = received();
      List<CompletionStage<Renewal>> asked = new ArrayList<>();
      for (int i = 0; i < renewals; i++) {
        asked.add(session.renew(0, 1, List.of()));
      }
      asked.forEach(
          answer -> assertThat(BoundedWait.join(answer)).isInstanceOf(Renewal.Renewed.class));
      assertThat(received() - before).isLessThan(4L * renewals + 20);
    } finally {
      client.close();
    }
  }

  private LockStore open() {
    return ZooKeeperStore.open(Scheme.ZK.url("127.0.0.1:" + line.port(), "/renewals"));
  }

  private static LockStore over(ZooKeeper client) {
    Duration tick = Duration.ofMillis(100);
    return ZooKeeperStore.over(client, ZooKeeperOptions.DEFAULT.withTick(tick));
  }
}
