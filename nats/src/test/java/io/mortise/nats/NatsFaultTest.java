package io.mortise.nats;

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
import io.mortise.testkit.RerunIfPaused;
import io.mortise.testkit.SessionDriver;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testkit.server.FaultInjectionProxy.NetworkCondition;
import io.mortise.testkit.server.NatsServer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What becomes of locks when the server dies, stands still. */
class NatsFaultTest {
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final LockName LOCK = LockName.of("lock");

  private static NatsServer server;

  private final String space = NatsServers.namespace();
  private final String parameters = "?timeout=2s&namespace=" + space;

  @BeforeAll
  static void start() {
    server = NatsServers.start();
  }

  @AfterAll
  static void stop() {
    if (server != null) {
      server.close();
    }
  }

  private LockClient client(Duration ttl) {
    return client(server.url(), ttl);
  }

  private LockClient client(String where, Duration ttl) {
    return LockClient.builder().url(where + parameters).ttl(ttl).build();
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
    try (LockStore crashed = NatsStore.open(server.url() + parameters);
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
  void givenHolder_whenItsKeysArePurged_thenTheNextTokenIsGreater_unlessTheBucketIsDeletedToo()
      throws Exception {
    String bucket = "KV_mortise-" + space;
    try (LockClient holder = client(LONG);
        LockClient other = client(LONG);
        NatsOperator operator = NatsOperator.of(server)) {
      Lease lease = holder.lock("x").acquireWithin(LONG);
      operator.streams().purgeStream(bucket);
      try (Lease next = other.lock("x").acquireWithin(LONG)) {
        assertThat(next.token()).isGreaterThan(lease.token());
        operator.streams().deleteStream(bucket);
        try (LockClient third = client(LONG);
            Lease last = third.lock("x").acquireWithin(LONG)) {
          assertThat(last.token()).isLessThan(next.token());
        }
      }
    }
  }

  @Test
  @RerunIfPaused
  void givenConnectionThatFallsSilent_thenItsHolderLosesTheLease_andLocksAgainWhenItIsBack()
      throws Exception {
    try (FaultInjectionProxy way = FaultInjectionProxy.to(server.port());
        LockClient holder = client("nats://127.0.0.1:" + way.port(), Duration.ofSeconds(3));
        LockClient other = client(Duration.ofSeconds(3))) {
      Lease lease = holder.lock("x").acquireWithin(LONG);
      long token = lease.token();
      way.weather(NetworkCondition.FROZEN);
      try (Lease next = other.lock("x").acquireWithin(LONG)) {
        assertThat(lease.isValid()).isFalse();
        assertThat(next.token()).isGreaterThan(token);
        assertThatThrownBy(lease::close).isInstanceOf(LeaseLostException.class);
      }
      way.weather(NetworkCondition.FAIR);
      try (Lease again = holder.lock("x").acquireWithin(LONG)) {
        again.ensureValid();
      }
    }
  }

  @Test
  void givenNobodyThatListens_thenOpeningSaysSo() {
    int port = server.port();
    server.kill();
    try {
      assertThatThrownBy(() -> NatsStore.open("nats://127.0.0.1:" + port))
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("nats:127.0.0.1:" + port);
    } finally {
      server.restart();
    }
  }

  @Test
  void givenServerThatIsDown_thenTheOtherIsAsked() {
    String down = "127.0.0.1:1";
    String up = "127.0.0.1:" + server.port();
    try (LockStore store = NatsStore.open("nats://" + down + "," + up + parameters)) {
      SessionDriver a = SessionDriver.open(store, Duration.ofMinutes(1), "a");
      a.hold(LOCK, Mode.EXCLUSIVE);
    }
  }
}
