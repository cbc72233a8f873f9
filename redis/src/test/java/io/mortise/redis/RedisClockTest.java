package io.mortise.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockException;
import io.mortise.spi.LockName;
import io.mortise.spi.LockStore;
import io.mortise.spi.News;
import io.mortise.spi.PartitionedStore;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.testkit.Machine;
import io.mortise.testkit.Unpaused;
import io.mortise.testkit.server.FakeClock;
import io.mortise.testkit.server.RedisServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What becomes of locks when the clock of the server is set. */
class RedisClockTest {
  private static final Duration TTL = Duration.ofSeconds(2);
  private static final Duration HOUR = Duration.ofHours(1);
  private static final String LOCK = "invoice/42";
  private static final LockName LOCK_NAME = LockName.of(LOCK);

  private FakeClock clock;
  private RedisServer server;
  private RedisServer neighbour;

  @BeforeEach
  void start() {
    clock = Machine.required(FakeClock.installed(), "libfaketime");
    // The one without jemalloc, which reads the clock before libfaketime is ready.
    Path binary = Machine.required(RedisServer.bundled(), "The Redis server");
    server = RedisServer.start(clock, binary);
    neighbour = RedisServer.start(clock, binary);
  }

  @AfterEach
  void stop() {
    for (RedisServer started : new RedisServer[] {neighbour, server}) {
      if (started != null) {
        started.close();
      }
    }
    if (clock != null) {
      clock.close();
    }
  }

  private LockClient client() {
    return client(Layout.REDIS);
  }

  private LockClient client(Layout layout) {
    return LockClient.builder().url(url(layout)).ttl(TTL).build();
  }

  @Test
  void givenHolder_whenTheClockIsSetForward_thenAnotherMayHoldToo_butTheFirstIsToldAndFenced()
      throws Exception {
    try (LockStore paused = RedisStore.open(server.url());
        LockClient other = client()) {
      // Its next renewal is not due yet: as far as it can know it holds for a TTL.
      Party first = new Party(paused);
      long token = ((Reply.Granted) first.acquire(LOCK_NAME, first.attempt(), false)).token();
      clock.set(HOUR);
      try (Lease second = other.lock(LOCK).acquireWithin(Duration.ofSeconds(20))) {
        assertThat(second.token()).isGreaterThan(token);
        assertThat(first.renew()).isInstanceOf(Renewal.Lost.class);
      }
    }
  }

  @Test
  @Unpaused
  void givenHolder_whenTheClockIsSetBack_thenItKeepsTheLock_andTokensGoOnRising() throws Exception {
    try (LockClient holder = client();
        LockClient other = client()) {
      long token;
      try (Lease lease = holder.lock(LOCK).acquire()) {
        token = lease.token();
        clock.set(HOUR.negated());
        assertThat(other.lock(LOCK).tryAcquire(TTL.multipliedBy(2))).isEmpty();
        lease.ensureValid();
      }
      try (Lease next = other.lock(LOCK).acquireWithin(Duration.ofSeconds(20))) {
        assertThat(next.token()).isGreaterThan(token);
      }
    }
  }

  private enum Layout {
    REDIS,
    SHARDED,
    PLAIN
  }

  private String url(Layout layout) {
    return switch (layout) {
      case REDIS -> server.url();
      case SHARDED ->
          "redis-sharded://127.0.0.1:" + server.port() + ",127.0.0.1:" + neighbour.port();
      case PLAIN -> PlainUnderTest.url(server.url());
    };
  }

  @Test
  void givenPlainLock_whenTheClockIsSetForward_thenAnotherMayHoldToo_andTheFirstIsToldWhenItRenews()
      throws Exception {
    try (LockStore paused = RedisStore.open(url(Layout.PLAIN));
        LockClient other = client(Layout.PLAIN)) {
      Party first = new Party(paused);
      assertThat(first.acquire(LOCK_NAME, first.attempt(), false))
          .isInstanceOf(Reply.Granted.class);
      clock.set(HOUR);
      try (Lease second = other.lock(LOCK).acquireWithin(Duration.ofSeconds(20))) {
        assertThat(first.news()).singleElement().isInstanceOf(News.Gone.class);
        second.ensureValid();
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void givenDeadHolder_whenTheClockIsSetBack_thenItsLockStaysShut_untilTheClockIsRightAgain(
      Layout layout) throws Exception {
    try (LockStore crashed = RedisStore.open(url(layout));
        LockClient other = client(layout)) {
      LockStore home =
          crashed instanceof PartitionedStore parts
              ? parts.partition(parts.partitionOf(LOCK_NAME))
              : crashed;
      Party dead = new Party(home, TTL);
      dead.acquire(LOCK_NAME, dead.attempt(), false);
      clock.set(HOUR.negated());
      assertThat(other.lock(LOCK).tryAcquire(TTL.multipliedBy(2))).isEmpty();
      clock.set(Duration.ZERO);
      await()
          .atMost(Duration.ofSeconds(20))
          // What is under way when the clock is set forward counts as too late.
          .ignoreExceptionsInstanceOf(LockException.class)
          .until(() -> other.lock(LOCK).tryAcquire(), Optional::isPresent)
          .orElseThrow()
          .close();
    }
  }
}
