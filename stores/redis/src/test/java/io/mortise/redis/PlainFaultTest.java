package io.mortise.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.LockException;
import io.mortise.LockName;
import io.mortise.LockOptions;
import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.UnsupportedByStoreException;
import io.mortise.admin.LockQuery;
import io.mortise.spi.LockStore;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.SessionNotification;
import io.mortise.testkit.BoundedWait;
import io.mortise.testserver.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Failures of plain locks, and refused requests. */
class PlainFaultTest {
  private static final LockName LOCK = LockName.of("invoice/42");
  private static final Duration WAIT = Duration.ofSeconds(20);

  private static LockStore open(RedisServer server, String parameters) {
    return RedisStore.open(PlainUnderTest.url(server.url()) + "?" + parameters);
  }

  private static LockClient client(RedisServer server, String layout) {
    return client(server, layout, Duration.ofSeconds(3));
  }

  private static LockClient client(RedisServer server, String layout, Duration ttl) {
    return LockClient.builder()
        .url(PlainUnderTest.url(server.url()) + "?layout=" + layout)
        .ttl(ttl)
        .build();
  }

  @Test
  void givenWhatAKeyCannotKeep_thenItIsRefusedByName_andNothingIsWritten() throws Exception {
    try (RedisServer server = RedisServers.any();
        ForeignClient other = new ForeignClient(server.port());
        LockClient client = LockClient.connect(PlainUnderTest.url(server.url()))) {
      client.lock("warm").acquireWithin(WAIT).close();
      assertThatThrownBy(() -> client.readWriteLock("x").readLock().acquire())
          .isInstanceOf(UnsupportedByStoreException.class)
          .hasMessageContaining("SHARED")
          .hasMessageContaining("zk:, etcd:, consul:, nats:, dynamodb: or mem:.");
      assertThatThrownBy(() -> client.semaphore("x", 3).permits(1).acquire())
          .isInstanceOf(UnsupportedByStoreException.class)
          .hasMessageContaining("PERMITS")
          .hasMessageContaining("zk:, etcd:, consul:, nats:, dynamodb: or mem:.");
      LockOptions atLeast = LockOptions.DEFAULTS.withAtLeast(WAIT);
      assertThatThrownBy(() -> client.lock("x", atLeast).acquire())
          .isInstanceOf(UnsupportedByStoreException.class)
          .hasMessageContaining("AT_LEAST");
      assertThatThrownBy(() -> client.admin().list(LockQuery.all().page(null, 10)))
          .isInstanceOf(UnsupportedByStoreException.class)
          .hasMessageContaining("prefix");
      try (Lease writer = client.readWriteLock("x").writeLock().acquireWithin(WAIT)) {
        assertThatThrownBy(writer::token).isInstanceOf(UnsupportedByStoreException.class);
        assertThatThrownBy(writer::downgrade).isInstanceOf(UnsupportedByStoreException.class);
      }
      assertThat(other.call("DBSIZE")).isEqualTo(0L);
    }
  }

  @Test
  void givenResultOfOnce_thenItIsNoLock_andHasNoToken() throws Exception {
    try (RedisServer server = RedisServers.any();
        LockStore store = open(server, "prefix=p:");
        LockClient client = LockClient.builder().store(store).build()) {
      assertThat(client.once("x").run(lease -> "done").token()).isZero();
      assertThat(client.admin().list(LockQuery.all().page(null, 10)).items()).isEmpty();
      assertThat(client.admin().find("mortise:fact:once/x")).isEmpty();
      assertThatThrownBy(() -> client.lock("mortise:fact:once/x").acquireWithin(WAIT))
          .isInstanceOf(UnsupportedByStoreException.class)
          .hasMessageContaining("Use another name");
      assertThat(client.once("x").result()).isPresent();
    }
  }

  @Test
  void givenWrongParameters_thenTheyAreRefused() {
    assertThatThrownBy(() -> RedisStore.open("redis-plain://localhost?layout=zset"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("zset");
    assertThatThrownBy(() -> RedisStore.open("redis-plain://localhost?namespace=x"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("namespace");
    assertThatThrownBy(() -> RedisStore.open("redis-plain://localhost?prefix=" + "x".repeat(257)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("prefix");
  }

  @Test
  void givenServerThatEvicts_thenItIsUnfit() {
    try (RedisServer server =
        RedisServers.any("--maxmemory", "50mb", "--maxmemory-policy", "allkeys-lru")) {
      assertThatThrownBy(() -> open(server, "layout=string"))
          .isInstanceOf(StoreUnfitException.class);
      open(server, "accept-eviction=true").close();
    }
  }

  @Test
  void givenFullMemory_thenNewLocksAreRefused_butHeldOnesAreKeptAndGivenBack() {
    for (String layout : List.of("string", "hash")) {
      try (RedisServer server = RedisServers.any();
          ForeignClient other = new ForeignClient(server.port());
          LockStore store = open(server, "layout=" + layout)) {
        SimulatedProcess party = new SimulatedProcess(store, Duration.ofSeconds(30));
        var held = party.attempt();
        assertThat(party.acquire(LOCK, held, false)).isInstanceOf(Reply.Granted.class);
        other.call("PEXPIRE", LOCK.value(), "20000");
        other.call("CONFIG", "SET", "maxmemory", "1");
        assertThat(party.acquire(LockName.of("new"), party.attempt(), false))
            .isInstanceOfSatisfying(
                Reply.Refused.class,
                refused -> assertThat(refused.why()).isEqualTo(Reply.RefusalReason.STORE_FULL));
        assertThat(party.notifications()).isEmpty();
        assertThat((Long) other.call("PTTL", LOCK.value())).isGreaterThan(20_000L);
        assertThat(party.abandon(LOCK, held))
            .isEqualTo(
                new Reply.Ended(held, Reply.AttemptState.HELD, Reply.EndReason.RELEASED, false));
        assertThat(other.call("DBSIZE")).isEqualTo(0L);
      }
    }
  }

  @Test
  void givenServerThatComesBackEmpty_thenAnotherIsGranted_andTheFormerHolderIsTold()
      throws Exception {
    for (String layout : List.of("string", "hash")) {
      try (RedisServer server = RedisServers.any();
          LockClient holder = client(server, layout);
          LockClient other = client(server, layout, WAIT)) {
        Lease lease = holder.lock("x").acquireWithin(WAIT);
        server.kill();
        server.restart();
        Lease next =
            await()
                .atMost(WAIT)
                .ignoreExceptionsInstanceOf(LockException.class)
                .until(() -> other.lock("x").tryAcquire(), Optional::isPresent)
                .orElseThrow();
        BoundedWait.until(WAIT, "the holder was told", () -> lease.state() == Lease.State.LOST);
        assertThatThrownBy(lease::close).isInstanceOf(LeaseLostException.class);
        next.close();
      }
    }
  }

  @Test
  void givenMachineThatWasCloned_thenBothRenewTheSameLock_andNeitherIsTold() {
    for (String layout : List.of("string", "hash")) {
      try (RedisServer server = RedisServers.any();
          LockStore store = open(server, "layout=" + layout);
          LockStore copied = open(server, "layout=" + layout)) {
        SimulatedProcess party = new SimulatedProcess(store);
        SimulatedProcess clone = new SimulatedProcess(copied, party.spec);
        var attempt = party.attempt();
        assertThat(party.acquire(LOCK, attempt, false)).isInstanceOf(Reply.Granted.class);
        assertThat(clone.acquire(LOCK, attempt, false)).isInstanceOf(Reply.Granted.class);
        for (int i = 0; i < 3; i++) {
          assertThat(party.notifications()).isEmpty();
          assertThat(clone.notifications()).isEmpty();
        }
      }
    }
  }

  @Test
  void givenServerThatForgotTheScripts_thenAllGoesOn() {
    for (String layout : List.of("string", "hash")) {
      try (RedisServer server = RedisServers.any();
          ForeignClient other = new ForeignClient(server.port());
          LockStore store = open(server, "layout=" + layout)) {
        SimulatedProcess party = new SimulatedProcess(store);
        var attempt = party.attempt();
        other.call("SCRIPT", "FLUSH");
        assertThat(party.acquire(LOCK, attempt, false)).isInstanceOf(Reply.Granted.class);
        other.call("SCRIPT", "FLUSH");
        assertThat(party.notifications()).isEmpty();
        other.call("SCRIPT", "FLUSH");
        assertThat(party.abandon(LOCK, attempt))
            .isEqualTo(
                new Reply.Ended(attempt, Reply.AttemptState.HELD, Reply.EndReason.RELEASED, false));
      }
    }
  }

  @Test
  void givenThreeHundredLocks_whenSomeWereTakenAway_thenExactlyThoseAreTold_untilSeen() {
    try (RedisServer server = RedisServers.any();
        ForeignClient other = new ForeignClient(server.port());
        LockStore store = open(server, "layout=string")) {
      SimulatedProcess party = new SimulatedProcess(store, Duration.ofSeconds(60));
      List<CompletableFuture<Reply>> grants = new ArrayList<>();
      for (int i = 0; i < 300; i++) {
        grants.add(
            party.send(SimulatedProcess.acquiring(LockName.of("n" + i), party.attempt(), false)));
      }
      grants.forEach(
          grant -> assertThat(SimulatedProcess.join(grant)).isInstanceOf(Reply.Granted.class));
      for (int i = 0; i < 300; i += 50) {
        other.call("DEL", "n" + i);
      }
      other.call("PEXPIRE", "n1", "20000");
      long calls = evals(other);
      assertThat(party.notifications())
          .hasSize(6)
          .allMatch(SessionNotification.HoldEnded.class::isInstance)
          .extracting(notifications -> notifications.name().value())
          .containsExactlyInAnyOrder("n0", "n50", "n100", "n150", "n200", "n250");
      assertThat(evals(other) - calls).as("100 locks by one command").isEqualTo(3);
      assertThat((Long) other.call("PTTL", "n1")).isGreaterThan(30_000L);
      assertThat(party.notifications()).isEmpty();
    }
  }

  private static long evals(ForeignClient admin) {
    return String.valueOf(admin.call("INFO", "commandstats"))
        .lines()
        .filter(line -> line.startsWith("cmdstat_evalsha:calls="))
        .map(line -> line.replaceAll("cmdstat_evalsha:calls=(\\d+).*", "$1"))
        .mapToLong(Long::parseLong)
        .findFirst()
        .orElse(0);
  }

  @Test
  void givenGrantWhoseAnswerWasLost_whenAskedAgain_thenItsTimeBeginsAnew() {
    try (RedisServer server = RedisServers.any();
        ForeignClient other = new ForeignClient(server.port());
        LockStore store = open(server, "layout=string")) {
      SimulatedProcess party = new SimulatedProcess(store, Duration.ofSeconds(30));
      var attempt = party.attempt();
      // As if it had been executed long ago without an answer.
      other.lock(LOCK.value(), attempt.encoded(), 5_000);
      assertThat(party.acquire(LOCK, attempt, false)).isInstanceOf(Reply.Granted.class);
      assertThat((Long) other.call("PTTL", LOCK.value()))
          .as("a lease is believed in for a TTL from the last renewal")
          .isGreaterThan(20_000L);
    }
  }

  @Test
  void givenRequestThatArrivesAfterItsAbandon_thenNobodyKeepsItAlive() {
    try (RedisServer server = RedisServers.any();
        ForeignClient other = new ForeignClient(server.port());
        LockStore store = open(server, "layout=string")) {
      SimulatedProcess party = new SimulatedProcess(store, Duration.ofSeconds(30));
      var attempt = party.attempt();
      assertThat(party.acquire(LOCK, attempt, false)).isInstanceOf(Reply.Granted.class);
      party.abandon(LOCK, attempt);
      other.lock(LOCK.value(), attempt.encoded(), 5_000);
      assertThat(party.renew()).isInstanceOf(Renewal.Renewed.class);
      assertThat((Long) other.call("PTTL", LOCK.value())).isLessThanOrEqualTo(5_000L);
    }
  }

  @Test
  void givenServerThatIsStopped_thenWhoAsksIsTold_andTheWaitGoesOnAfterwards() throws Exception {
    try (RedisServer server = RedisServers.any();
        LockClient client = LockClient.connect(PlainUnderTest.url(server.url()) + "?timeout=1s")) {
      client.lock("warm").acquireWithin(WAIT).close();
      server.pause();
      assertThatThrownBy(() -> client.lock("x").tryAcquire())
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("redis-plain:");
      CompletableFuture<Lease> waiting = client.lock("y").acquireAsync(WAIT);
      BoundedWait.pass(Duration.ofMillis(1500));
      assertThat(waiting).isNotDone();
      server.resume();
      waiting.get(20, java.util.concurrent.TimeUnit.SECONDS).close();
      BoundedWait.until(WAIT, "x was free", () -> client.admin().find("x").isEmpty());
    }
  }

  @Test
  void givenKeyspaceNotifications_thenAWaitEndsLongBeforeItWouldHaveAskedAgain() throws Exception {
    try (RedisServer server = RedisServers.any("--notify-keyspace-events", "KA");
        ForeignClient other = new ForeignClient(server.port());
        LockStore store = open(server, "layout=string")) {
      SimulatedProcess party = new SimulatedProcess(store);
      var attempt = party.attempt();
      other.lock(LOCK.value(), "theirs", 60_000);
      assertThat(party.acquire(LOCK, attempt, false)).isInstanceOf(Reply.Busy.class);
      assertThat(subscribed(other)).as("one try is not a wait").isEmpty();
      assertThat(party.acquire(LOCK, attempt, false)).isInstanceOf(Reply.Busy.class);
      BoundedWait.until(WAIT, "it listens", () -> !subscribed(other).isEmpty());
      assertThat(party.hints).isEmpty();
      other.unlock(LOCK.value(), "theirs");
      BoundedWait.until(
          WAIT,
          "it is told",
          () -> party.hints.contains(new SessionNotification.MayBeFree(LOCK, attempt)));
      assertThat(party.acquire(LOCK, attempt, false)).isInstanceOf(Reply.Granted.class);
      BoundedWait.until(WAIT, "it listens no more", () -> subscribed(other).isEmpty());
    }
  }

  private static List<?> subscribed(ForeignClient admin) {
    return (List<?>) admin.call("PUBSUB", "CHANNELS");
  }
}
