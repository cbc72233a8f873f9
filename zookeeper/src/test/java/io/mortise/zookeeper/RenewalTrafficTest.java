package io.mortise.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.spi.ClientLabel;
import io.mortise.spi.LockStore;
import io.mortise.spi.Renewal;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreSession;
import io.mortise.testkit.Unpaused;
import io.mortise.testkit.Waits;
import io.mortise.testkit.server.Relay;
import io.mortise.testkit.server.Relay.Weather;
import io.mortise.testkit.server.ZooKeeperServer;
import io.mortise.zookeeper.curator.CuratorStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What renewals cost, as the server counts it. Nobody else speaks to it. */
class RenewalTrafficTest {
  private static final Pattern RECEIVED = Pattern.compile("recved=(\\d+)");

  private ZooKeeperServer server;
  private Relay line;

  @BeforeEach
  void start() {
    server = ZooKeeperServer.start(TestServer.setup());
    line = Relay.to(server.port());
  }

  @AfterEach
  void stop() {
    line.close();
    server.close();
  }

  /** Packets of all clients, pings among them. */
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
    return store.open(spec, news -> {});
  }

  @ParameterizedTest
  @EnumSource
  @Unpaused
  void givenSessionThatIsRenewed_thenARenewalTakesTwoPacketsAtMost(Scheme scheme) {
    int renewals = 6;
    try (LockStore store = open(scheme)) {
      StoreSession session = session(store, Duration.ofSeconds(3));
      assertThat(Waits.join(session.renew(0, 1, List.of()))).isInstanceOf(Renewal.Renewed.class);
      long before = received();
      for (int beat = 1; beat <= renewals; beat++) {
        Waits.pass(Duration.ofMillis(900));
        assertThat(Waits.join(session.renew(beat, beat + 1, List.of())))
            .isInstanceOf(Renewal.Renewed.class);
      }
      // Each connection may have sent pings as well.
      assertThat(received() - before).isBetween((long) renewals, 2L * renewals + 2 * renewals);
    }
  }

  @ParameterizedTest
  @EnumSource
  void givenSessionThatWasAskedForOftenUntilItOpened_thenThatCostsLittle(Scheme scheme) {
    try (LockStore store = open(scheme)) {
      line.weather(Weather.FROZEN);
      StoreSession session = session(store, Duration.ofMinutes(1));
      List<CompletionStage<Renewal>> asked = new ArrayList<>();
      for (int i = 0; i < 40; i++) {
        asked.add(session.renew(0, 1, List.of()));
      }
      long before = received();
      line.weather(Weather.FAIR);
      asked.forEach(answer -> assertThat(Waits.join(answer)).isInstanceOf(Renewal.Renewed.class));
      assertThat(Waits.join(session.renew(1, 2, List.of()))).isInstanceOf(Renewal.Renewed.class);
      assertThat(received() - before).isLessThan(40);
    }
  }

  @ParameterizedTest
  @EnumSource
  void givenManyRenewalsAtOnce_thenEachEnds_andCostsFourPacketsAtMost(Scheme scheme) {
    int renewals = 40;
    try (LockStore store = open(scheme)) {
      StoreSession session = session(store, Duration.ofMinutes(1));
      Waits.join(session.renew(0, 1, List.of()));
      // A new connection, on which nothing was sent yet.
      line.reset();
      Waits.until(
          TestServer.LONG,
          "it was connected again",
          () -> Waits.join(session.renew(1, 2, List.of())) instanceof Renewal.Renewed);
      long before = received();
      List<CompletableFuture<Renewal>> asked = new ArrayList<>();
      for (int i = 0; i < renewals; i++) {
        asked.add(session.renew(2, 3, List.of()).toCompletableFuture());
      }
      asked.forEach(answer -> assertThat(Waits.join(answer)).isNotNull());
      assertThat(received() - before).isLessThan(4 * renewals + 20);
    }
  }

  private LockStore open(Scheme scheme) {
    return scheme == Scheme.ZK
        ? ZooKeeperStore.open(scheme.url("127.0.0.1:" + line.port(), "/renewals"))
        : CuratorStore.open(scheme.url("127.0.0.1:" + line.port(), "/renewals"));
  }
}
