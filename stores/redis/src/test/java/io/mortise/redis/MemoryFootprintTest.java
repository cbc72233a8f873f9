package io.mortise.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.sync.RedisCommands;
import io.mortise.LockClient;
import io.mortise.LockName;
import io.mortise.LockOptions;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockQuery;
import io.mortise.internal.client.EngineClient;
import io.mortise.internal.engine.Engine;
import io.mortise.spi.LockStore;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.RerunIfPaused;
import io.mortise.testkit.TestPrerequisites;
import io.mortise.testserver.FakeClock;
import io.mortise.testserver.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The server's memory for many held locks. */
@Tag("extended")
class MemoryFootprintTest {
  private static final int LOCKS = 10_000;
  private static final Duration TTL = Duration.ofSeconds(20);

  @ParameterizedTest
  @EnumSource(RedisServers.class)
  void givenTenThousandHeldLocks_thenEachTakesLittle_andARenewalIsOneCommandForAll(
      RedisServers version) {
    try (RedisServer server = version.start();
        LockStore store = RedisStore.open(server.url() + "?timeout=20s")) {
      RedisClient client = RedisClient.create(server.url());
      try {
        RedisCommands<String, String> admin = client.connect().sync();
        SimulatedProcess party = new SimulatedProcess(store);
        long before = usedMemory(admin);
        List<CompletableFuture<Reply>> replies = new ArrayList<>();
        // They must form one crowd, however slowly they arrive.
        server.pause();
        for (int i = 0; i < LOCKS; i++) {
          replies.add(
              party.send(
                  SimulatedProcess.acquiring(LockName.of("invoice/" + i), party.attempt(), false)));
        }
        server.resume();
        replies.forEach(
            reply -> assertThat(SimulatedProcess.join(reply)).isInstanceOf(Reply.Granted.class));
        // Memory that the crowd took for a moment, such as the previous hash table, is freed.
        BoundedWait.until(
            BoundedWait.ANSWER,
            "each takes at most 150 bytes",
            () -> usedMemory(admin) - before <= 150 * LOCKS);
        long bytes = usedMemory(admin) - before;
        assertThat((double) bytes)
            .as("no more than a fifth above the re-entrant hash of the widespread client")
            .isLessThanOrEqualTo(1.2 * bytesOfHashes(server, admin));

        long requests = number(admin.info("commandstats"), "cmdstat_evalsha:calls=");
        assertThat(requests).isLessThan(LOCKS / 2);
        assertThat(party.renew()).isInstanceOf(Renewal.Renewed.class);
        assertThat(number(admin.info("commandstats"), "cmdstat_evalsha:calls=") - requests)
            .isEqualTo(1);
      } finally {
        client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
      }
    }
  }

  private static long usedMemory(RedisCommands<String, String> admin) {
    return number(admin.info("memory"), "used_memory:");
  }

  /** Written as that client does: one field, a client id and a thread number. */
  private static long bytesOfHashes(RedisServer server, RedisCommands<String, String> admin) {
    long before = usedMemory(admin);
    try (ForeignClient other = new ForeignClient(server.port())) {
      for (int i = 0; i < LOCKS; i++) {
        other.enter("theirs_/" + i, "8743c9c0-0795-4907-87fd-6c719a6b4586:1", 600_000);
      }
    }
    return usedMemory(admin) - before;
  }

  /** {@code -Dmortise.names=1000000} runs it in full. */
  @Test
  @Timeout(900)
  void givenNamesUsedOnce_thenNothingIsLeftInTheClientAtOnce_norInTheServerAfterTheRetention()
      throws Exception {
    int names = Integer.getInteger("mortise.names", 20_000);
    try (FakeClock clock = TestPrerequisites.required(FakeClock.installed(), "libfaketime");
        RedisServer server = RedisServer.start(clock, RedisServers.REDIS_6.binary());
        ForeignClient admin = new ForeignClient(server.port())) {
      LockOptions quietly = LockOptions.DEFAULTS.withReleaseAsync(true);
      try (LockClient client =
          LockClient.builder().url(server.url() + "?retention=10m").ttl(TTL).build()) {
        for (int i = 0; i < names; i++) {
          client.lock("once/" + i, quietly).acquireWithin(TTL).close();
        }
        Engine engine = ((EngineClient) client).engine();
        BoundedWait.until(TTL, "the client had forgotten all", () -> engine.footprint() == 0);
      }
      assertThat((Long) admin.call("DBSIZE")).isGreaterThan(names / 2);
      clock.set(Duration.ofSeconds(601));
      BoundedWait.until(
          Duration.ofMinutes(3),
          "the server had forgotten all",
          () -> Long.valueOf(0).equals(admin.call("DBSIZE")));
    }
  }

  @Test
  @RerunIfPaused
  void givenProcessThatWasKilled_thenWhatNobodyWantsAnyMoreVanishesToo() {
    try (RedisServer server = RedisServers.any();
        ForeignClient admin = new ForeignClient(server.port());
        RedisLockStore other = (RedisLockStore) RedisStore.open(server.url())) {
      SimulatedProcess living = new SimulatedProcess(other);
      var kept = living.attempt();
      assertThat(living.acquire(LockName.of("kept"), kept, false))
          .isInstanceOf(Reply.Granted.class);
      try (LockStore killed = RedisStore.open(server.url())) {
        SimulatedProcess dead = new SimulatedProcess(killed, Duration.ofSeconds(3));
        for (int i = 0; i < 30; i++) {
          assertThat(dead.acquire(LockName.of("n" + i), dead.attempt(), false))
              .isInstanceOf(Reply.Granted.class);
        }
      }
      BoundedWait.until(
          TTL, "its session ended", () -> ((List<?>) admin.call("KEYS", "m::s:*")).size() == 1);
      assertThat(SimulatedProcess.join(other.claimSweep())).isTrue();
      assertThat(SimulatedProcess.join(other.claimSweep()))
          .as("one process, once a minute")
          .isFalse();
      assertThat(SimulatedProcess.join(other.sweep(100))).isEqualTo(30);
      assertThat(SimulatedProcess.join(other.inspect(LockQuery.all())).items())
          .extracting(LockInfo::name)
          .containsExactly("kept");
      assertThat((Long) admin.call("PTTL", "m::l:n0"))
          .as("its record is that of an idle lock")
          .isBetween(1L, Duration.ofMinutes(10).toMillis());
    }
  }

  private static long number(String info, String field) {
    return info.lines()
        .filter(line -> line.startsWith(field))
        .map(line -> line.substring(field.length()).replaceAll("\\D.*", ""))
        .mapToLong(Long::parseLong)
        .findFirst()
        .orElseThrow();
  }
}
