package io.mortise.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.LockName;
import io.mortise.StoreUnavailableException;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.StoreUrl;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.RerunIfPaused;
import io.mortise.testkit.SessionDriver;
import io.mortise.testkit.server.EtcdServer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What becomes of locks when the server dies, stands still. */
class EtcdFaultTest {
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final LockName LOCK = LockName.of("lock");

  private static EtcdServer server;

  private final String namespace = "?timeout=2s&namespace=" + EtcdServers.namespace();

  @BeforeAll
  static void start() {
    server = EtcdServers.start();
  }

  @AfterAll
  static void stop() {
    if (server != null) {
      server.close();
    }
  }

  private LockClient client(Duration ttl) {
    return LockClient.builder().url(server.url() + namespace).ttl(ttl).build();
  }

  @Test
  @RerunIfPaused
  void givenHolderAndWaiter_whenTheServerIsKilled_thenTheHolderKeepsTheLock_andTheWaiterItsPlace()
      throws Exception {
    try (LockClient holder = client(Duration.ofSeconds(20));
        LockClient other = client(Duration.ofSeconds(20))) {
      Lease lease = holder.lock("x").acquireWithin(LONG);
      CompletableFuture<Lease> waiting = other.lock("x").acquireAsync();
      await()
          .atMost(LONG)
          .until(() -> holder.admin().find("x").orElseThrow().waiters().size() == 1);
      server.kill();
      server.restart();
      await()
          .atMost(LONG)
          .until(() -> holder.admin().find("x").orElseThrow().waiters().size() == 1);
      lease.ensureValid();
      assertThat(waiting).isNotDone();
      lease.close();
      try (Lease next = waiting.get(60, TimeUnit.SECONDS)) {
        assertThat(next.token()).isGreaterThan(lease.token());
      }
    }
  }

  @Test
  @RerunIfPaused
  void givenServerThatStandsStill_thenTheHolderLosesItsLease_andAsksAreNoContention()
      throws Exception {
    try (LockClient holder = client(Duration.ofSeconds(3));
        LockClient other = client(Duration.ofSeconds(3))) {
      other.lock("warm").acquireWithin(LONG).close();
      Lease lease = holder.lock("x").acquireWithin(LONG);
      long token = lease.token();
      server.pause();
      try {
        assertThatThrownBy(() -> other.lock("x").tryAcquire())
            .isInstanceOf(StoreUnavailableException.class);
        await().atMost(LONG).until(() -> !lease.isValid());
      } finally {
        server.resume();
      }
      try (Lease next = other.lock("x").acquireWithin(LONG)) {
        assertThat(next.token()).isGreaterThan(token);
        assertThat(lease.isValid()).isFalse();
        assertThatThrownBy(lease::close).isInstanceOf(LeaseLostException.class);
      }
    }
  }

  @Test
  @RerunIfPaused
  void givenHolderThatDied_thenItsLockIsFreeAfterATtl_notSooner_andAfterTwoAtTheLatest()
      throws Exception {
    Duration ttl = Duration.ofSeconds(2);
    try (LockStore crashed = EtcdStore.open(server.url() + namespace);
        LockClient other = client(ttl)) {
      SessionDriver dead = SessionDriver.open(crashed, ttl, "dead");
      dead.hold(LOCK, Mode.EXCLUSIVE);
      long began = System.nanoTime();
      try (Lease lease = other.lock("lock").acquireWithin(LONG)) {
        lease.ensureValid();
        assertThat(Duration.ofNanos(System.nanoTime() - began))
            .isBetween(ttl, ttl.multipliedBy(2).plusSeconds(2));
      }
    }
  }

  @Test
  void givenHolder_whenItsKeyIsDeleted_thenTheNextTokenIsGreater() throws Exception {
    try (LockClient holder = client(LONG);
        LockClient other = client(LONG)) {
      Lease lease = holder.lock("x").acquireWithin(LONG);
      String from = JsonText.base64("/mortise/");
      server.post(
          "/v3/kv/deleterange",
          "{\"key\":" + from + ",\"range_end\":" + JsonText.base64After("/mortise/") + "}");
      try (Lease next = other.lock("x").acquireWithin(LONG)) {
        assertThat(next.token()).isGreaterThan(lease.token());
      }
    }
  }

  @Test
  void givenNobodyThatListens_thenOpeningSaysSo() {
    int port = server.port();
    server.kill();
    try {
      assertThatThrownBy(() -> EtcdStore.open("etcd://127.0.0.1:" + port))
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("etcd:127.0.0.1:" + port);
    } finally {
      server.restart();
    }
  }

  /** A client that waits for the rest would never ask again: few requests are under way at once. */
  @Test
  void givenAnswersThatStallBehindTheirHeaders_thenEachIsGivenUp() throws Exception {
    try (StallingServer stalling = new StallingServer();
        EtcdGateway gateway =
            new EtcdGateway(
                EtcdTarget.parse(
                    StoreUrl.parse("etcd://127.0.0.1:" + stalling.port() + "?timeout=200ms")),
                "test")) {
      EtcdDocuments documents = new EtcdDocuments(gateway, "/mortise/", () -> 0);
      for (int i = 0; i < 5; i++) {
        String key = "lock/" + i;
        assertThatThrownBy(() -> BoundedWait.join(documents.read(key)))
            .hasCauseInstanceOf(StoreUnavailableException.class)
            .hasMessageContaining("did not answer within 200ms");
      }
    }
  }

  @Test
  void givenMemberThatIsDown_thenTheOtherIsAsked() {
    String down = "127.0.0.1:1";
    String up = "127.0.0.1:" + server.port();
    try (LockStore store = EtcdStore.open("etcd://" + down + "," + up + namespace)) {
      SessionDriver a = SessionDriver.open(store, Duration.ofMinutes(1), "a");
      a.hold(LOCK, Mode.EXCLUSIVE);
    }
  }
}
