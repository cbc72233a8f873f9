package io.mortise.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.event.command.CommandListener;
import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockName;
import io.mortise.redis.lettuce.LettuceStore;
import io.mortise.spi.LockStore;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testserver.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Connections of the caller's client. */
@Timeout(120)
class LettuceSuppliedConnectionTest {
  private static final Duration LONG = Duration.ofSeconds(30);
  private static final LockName LOCK = LockName.of("invoice/42");

  private final AtomicInteger doubts = new AtomicInteger();
  private RedisServer server;
  private RedisClient client;

  @BeforeEach
  void start() {
    server = RedisServers.any();
    client = RedisClient.create(server.url());
  }

  @AfterEach
  void stop() {
    client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
    server.close();
  }

  private LockStore store() {
    return LettuceStore.over(client, RedisOptions.DEFAULT.withTimeout(Duration.ofMillis(500)));
  }

  private SimulatedProcess party(LockStore store) {
    SimulatedProcess party = new SimulatedProcess(store);
    party.session.onSuspectedRestart(doubts::incrementAndGet);
    return party;
  }

  /** Breaks a connection of the client other than the store's, until it is reopened. */
  private void breakAnother() {
    try (StatefulRedisConnection<String, String> another = client.connect()) {
      long before = another.sync().clientId();
      server.ask("CLIENT", "KILL", "ID", Long.toString(before));
      await().atMost(LONG).ignoreExceptions().until(() -> another.sync().clientId() != before);
    }
  }

  @Test
  void givenConnectionsOfTheStoreAreCut_thenItsSessionsAreInDoubt_butNotForOthersOfTheClient() {
    try (LockStore store = store()) {
      party(store);
      breakAnother();
      assertThat(doubts).hasValue(0);
      server.ask("CLIENT", "KILL", "TYPE", "normal");
      server.ask("CLIENT", "KILL", "TYPE", "pubsub");
      await().atMost(LONG).until(() -> doubts.get() >= 2);
    }
  }

  @Test
  void givenPeerThatVanishesUnderRequests_thenTheNextAreServedSoon_andTheLeaseIsKept() {
    try (FaultInjectionProxy way = FaultInjectionProxy.to(server.port())) {
      RedisClient own = RedisClient.create("redis://127.0.0.1:" + way.port());
      LockStore store =
          LettuceStore.over(own, RedisOptions.DEFAULT.withTimeout(Duration.ofSeconds(1)));
      try (LockClient locks =
          LockClient.builder().store(store).ttl(Duration.ofSeconds(20)).build()) {
        Lease lease = locks.lock("held").tryAcquire().orElseThrow();
        CompletableFuture<Lease> underWay = locks.lock("x").acquireAsync();
        way.halfOpen();
        CompletableFuture<Lease> next = locks.lock("y").acquireAsync();
        BoundedWait.join(underWay).close();
        BoundedWait.join(next).close();
        await().atMost(LONG).until(lease::isValid);
        lease.ensureValid();
      } finally {
        own.shutdown(Duration.ZERO, Duration.ofSeconds(2));
      }
    }
  }

  @Test
  void givenStoreIsClosed_whenTheServerRestarts_thenNobodyIsTold() {
    try (LockStore store = store()) {
      party(store);
    }
    server.restart();
    breakAnother();
    assertThat(doubts).hasValue(0);
  }

  @Test
  void givenServerThatDidNotAnswer_thenTheConnectionIsMadeAnew() {
    try (LockStore store = store()) {
      SimulatedProcess party = party(store);
      server.pause();
      assertThat(party.acquire(LOCK, party.attempt(), false)).isInstanceOf(Reply.Failed.class);
      assertThat(party.renew()).isInstanceOf(Renewal.Unknown.class);
      server.resume();
      await().atMost(LONG).until(() -> doubts.get() >= 2);
      await().atMost(LONG).until(() -> party.renew() instanceof Renewal.Renewed);
    }
  }

  @Test
  void givenServerThatBecameAReplica_thenTheConnectionIsMadeAnew_whenItRefuses() {
    client.setOptions(
        // Each option in turn hides the channel behind one more layer.
        ClientOptions.builder().timeoutOptions(TimeoutOptions.enabled(LONG)).build());
    client.addListener(new CommandListener() {});
    try (LockStore store = store()) {
      SimulatedProcess party = party(store);
      server.ask("REPLICAOF", "127.0.0.1", "1");
      assertThat(party.acquire(LOCK, party.attempt(), false)).isInstanceOf(Reply.Failed.class);
      assertThat(party.renew()).isInstanceOf(Renewal.Unknown.class);
      await().atMost(LONG).until(() -> doubts.get() >= 2);
    }
  }

  @Test
  void givenClientHandedIn_thenRequestsKeepTheirOrder_andItOutlivesTheStore() {
    try (LockStore store = LettuceStore.over(client, RedisOptions.DEFAULT)) {
      SimulatedProcess party = new SimulatedProcess(store);
      var attempt = party.attempt();
      assertThat(party.acquire(LOCK, attempt, false)).isInstanceOf(Reply.Granted.class);
      SimulatedProcess waiter = new SimulatedProcess(store);
      assertThat(waiter.acquire(LOCK, waiter.attempt(), true)).isInstanceOf(Reply.Queued.class);
      party.abandon(LOCK, attempt);
      await().atMost(LONG).until(() -> waiter.hints.size() == 1);
      LockName other = LockName.of("other");
      List<CompletableFuture<Reply>> grants = new ArrayList<>();
      for (int i = 0; i < 1000; i++) {
        var next = party.attempt();
        grants.add(party.send(SimulatedProcess.acquiring(other, next, false)));
        var unused = party.send(new Request.Abandon(other, next));
      }
      grants.forEach(
          grant -> assertThat(SimulatedProcess.join(grant)).isInstanceOf(Reply.Granted.class));
    }
    try (var connection = client.connect()) {
      assertThat(connection.sync().ping()).isEqualTo("PONG");
    }
  }
}
