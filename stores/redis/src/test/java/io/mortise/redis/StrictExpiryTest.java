package io.mortise.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockName;
import io.mortise.LockOptions;
import io.mortise.StoreUnfitException;
import io.mortise.UnsupportedByStoreException;
import io.mortise.admin.LockQuery;
import io.mortise.spi.LockStore;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.testkit.RerunIfPaused;
import io.mortise.testkit.TestPrerequisites;
import io.mortise.testserver.FakeClock;
import io.mortise.testserver.RedisServer;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Locks while the server's clock is set, with and without strict expiry. */
class StrictExpiryTest {
  private static final Duration TTL = Duration.ofSeconds(2);
  private static final Duration HOUR = Duration.ofHours(1);
  private static final String STRICT = "?namespace=strict&strict-expiry=true";

  private static FakeClock clock;
  private static RedisServer server;

  @BeforeAll
  static void start() {
    clock = TestPrerequisites.required(FakeClock.installed(), "libfaketime");
    // The allocator of Debian's build asks for the time before the library is ready.
    server = RedisServer.start(clock, RedisServers.REDIS_6.binary());
  }

  @AfterAll
  static void stop() {
    if (server != null) {
      server.close();
    }
    if (clock != null) {
      clock.close();
    }
  }

  @BeforeEach
  void setRight() {
    clock.set(Duration.ZERO);
  }

  private static LockClient client(String parameters, Duration ttl) {
    return LockClient.builder().url(server.url() + parameters).ttl(ttl).build();
  }

  @Test
  void givenNoStrictExpiry_whenTheClockIsSetForward_thenTwoBelieveThatTheyHold() throws Exception {
    try (LockClient first = client("?namespace=clock", Duration.ofSeconds(30));
        LockClient second = client("?namespace=clock", Duration.ofSeconds(30));
        Lease lease = first.lock("x").acquire()) {
      second.lock("warm").acquire().close();
      clock.set(HOUR);
      Lease next = second.lock("x").acquireWithin(Duration.ofSeconds(20));
      assertThat(next.isValid()).isTrue();
      assertThat(lease.isValid()).as("until its next renewal, seconds later").isTrue();
      next.close();
    } catch (io.mortise.LeaseLostException e) {
      // Reported on closing.
    }
  }

  @Test
  @RerunIfPaused
  void givenStrictExpiry_whenTheClockIsSetForwardAndBack_thenALiveHolderKeepsTheLock()
      throws Exception {
    try (LockClient holder = client(STRICT, TTL);
        LockClient other = client(STRICT, TTL);
        Lease lease = holder.lock("x").acquire()) {
      for (Duration jump : List.of(HOUR, HOUR.negated())) {
        clock.set(jump);
        assertThat(other.lock("x").tryAcquire(TTL.plus(TTL.dividedBy(2)))).isEmpty();
        lease.ensureValid();
        holder.lock("another").acquireWithin(Duration.ofSeconds(20)).close();
      }
    }
  }

  @Test
  @RerunIfPaused
  void givenStrictExpiry_whenAHolderDiesAndTheClockJumps_thenItsLockIsFreeAfterTwoTtls_notSooner()
      throws Exception {
    LockName name = LockName.of("dies");
    for (Duration jump : List.of(HOUR, HOUR.negated())) {
      clock.set(Duration.ZERO);
      try (LockStore crashed = RedisStore.open(server.url() + STRICT);
          LockClient other = client(STRICT, TTL)) {
        SimulatedProcess dead = new SimulatedProcess(crashed, TTL);
        assertThat(dead.acquire(name, dead.attempt(), false)).isInstanceOf(Reply.Granted.class);
        clock.set(jump);
        long began = System.nanoTime();
        try (Lease lease = other.lock("dies").acquireWithin(Duration.ofSeconds(30))) {
          lease.ensureValid();
          assertThat(Duration.ofNanos(System.nanoTime() - began))
              .as("as long as it may believe")
              .isGreaterThanOrEqualTo(TTL);
        }
        assertThat(dead.renew()).isInstanceOf(Renewal.Lost.class);
      }
    }
  }

  @Test
  void givenStrictExpiry_whenWhatADeadProcessLeftIsSwept_thenNothingIsLeft_andTheLivingKeepAll()
      throws Exception {
    String url = server.url() + "?namespace=rubbish&strict-expiry=true";
    Duration ttl = Duration.ofSeconds(1);
    try (ForeignClient admin = new ForeignClient(server.port());
        LockStore crashed = RedisStore.open(url);
        LockStore sweeping = RedisStore.open(url);
        LockClient living = LockClient.builder().url(url).ttl(Duration.ofSeconds(30)).build();
        Lease lease = living.lock("kept").acquire()) {
      SimulatedProcess dead = new SimulatedProcess(crashed, ttl);
      for (String name : List.of("x", "y")) {
        assertThat(dead.acquire(LockName.of(name), dead.attempt(), false))
            .isInstanceOf(Reply.Granted.class);
      }
      assertThat((List<?>) admin.call("KEYS", "m:rubbish:b:*")).hasSize(2);
      // By this clock all sessions have expired.
      clock.set(HOUR);
      await()
          .atMost(Duration.ofSeconds(60))
          .until(
              () -> {
                SimulatedProcess.join(sweeping.sweep(100));
                return SimulatedProcess.join(sweeping.inspect(LockQuery.all())).items().size() == 1;
              });
      assertThat((List<?>) admin.call("KEYS", "m:rubbish:b:*")).hasSize(1);
      assertThat(sweeping.inspect(LockQuery.of("kept")))
          .succeedsWithin(Duration.ofSeconds(20))
          .satisfies(page -> assertThat(page.items().get(0).holders()).hasSize(1));
      lease.ensureValid();
    }
  }

  @Test
  void givenStrictExpiry_thenWhatTheClockWouldDecideIsRefused_andClosingLeavesNoSession()
      throws Exception {
    try (ForeignClient admin = new ForeignClient(server.port())) {
      try (LockClient client = client("?namespace=left&strict-expiry=true", TTL)) {
        LockOptions atLeast = LockOptions.DEFAULTS.withAtLeast(TTL);
        assertThatThrownBy(() -> client.lock("x", atLeast).acquire())
            .isInstanceOf(UnsupportedByStoreException.class)
            .hasMessageContaining("AT_LEAST");
        client.lock("x").acquire().close();
        assertThat((List<?>) admin.call("KEYS", "m:left:b:*")).hasSize(1);
      }
      assertThat((List<?>) admin.call("KEYS", "m:left:[bs]:*")).isEmpty();
      assertThatThrownBy(() -> RedisStore.open(server.url() + "?namespace=left"))
          .isInstanceOf(StoreUnfitException.class)
          .hasMessageContaining("strict-expiry=true");
      assertThatThrownBy(() -> RedisStore.open("redis-cluster://127.0.0.1:1?strict-expiry=true"))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }
}
