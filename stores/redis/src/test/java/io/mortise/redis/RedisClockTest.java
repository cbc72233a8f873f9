package io.mortise.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockException;
import io.mortise.LockName;
import io.mortise.spi.LockStore;
import io.mortise.spi.PartitionedStore;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.SessionNotification;
import io.mortise.testkit.RerunIfPaused;
import io.mortise.testkit.TestPrerequisites;
import io.mortise.testserver.FakeClock;
import io.mortise.testserver.RedisCluster;
import io.mortise.testserver.RedisSentinels;
import io.mortise.testserver.RedisServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Locks while the server's clock is set. */
class RedisClockTest {
  private static final Duration TTL = Duration.ofSeconds(2);
  private static final Duration HOUR = Duration.ofHours(1);
  private static final String LOCK = "invoice/42";
  private static final LockName LOCK_NAME = LockName.of(LOCK);

  private static final Duration PATIENCE = Duration.ofSeconds(20);

  private final Deque<AutoCloseable> opened = new ArrayDeque<>();
  private FakeClock clock;
  private Path program;

  @BeforeEach
  void start() {
    clock = opened(TestPrerequisites.required(FakeClock.installed(), "libfaketime"));
    // The build without jemalloc, which reads the clock before libfaketime is ready.
    program = clock.over(TestPrerequisites.required(RedisServer.bundled(), "The Redis server"));
  }

  private <T extends AutoCloseable> T opened(T resource) {
    opened.push(resource);
    return resource;
  }

  @AfterEach
  void stop() throws Exception {
    while (!opened.isEmpty()) {
      opened.pop().close();
    }
  }

  private enum Layout {
    REDIS,
    SHARDED,
    SENTINEL,
    CLUSTER,
    PLAIN
  }

  /** Starts servers of that layout, all with the clock; returns their URL. */
  private String start(Layout layout) {
    return switch (layout) {
      case REDIS -> server().url();
      case SHARDED ->
          "redis-sharded://127.0.0.1:%d,127.0.0.1:%d".formatted(server().port(), server().port());
      case SENTINEL -> opened(RedisSentinels.start(program, PATIENCE)).url();
      case CLUSTER -> opened(RedisCluster.start(program, 3, true, PATIENCE)).url();
      case PLAIN -> PlainUnderTest.url(server().url());
    };
  }

  private RedisServer server() {
    return opened(RedisServer.start(program));
  }

  private static LockClient client(String url) {
    return LockClient.builder().url(url).ttl(TTL).build();
  }

  @Test
  void givenHolder_whenTheClockIsSetForward_thenAnotherMayHoldToo_butTheFirstIsToldAndFenced()
      throws Exception {
    String url = start(Layout.REDIS);
    try (LockStore paused = RedisStore.open(url);
        LockClient other = client(url)) {
      // Its next renewal is not due yet: to its knowledge it holds for a TTL.
      SimulatedProcess first = new SimulatedProcess(paused);
      long token = ((Reply.Granted) first.acquire(LOCK_NAME, first.attempt(), false)).token();
      clock.set(HOUR);
      try (Lease second = other.lock(LOCK).acquireWithin(Duration.ofSeconds(20))) {
        assertThat(second.token()).isGreaterThan(token);
        assertThat(first.renew()).isInstanceOf(Renewal.Lost.class);
      }
    }
  }

  @Test
  @RerunIfPaused
  void givenHolder_whenTheClockIsSetBack_thenItKeepsTheLock_andTokensGoOnRising() throws Exception {
    String url = start(Layout.REDIS);
    try (LockClient holder = client(url);
        LockClient other = client(url)) {
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

  @Test
  void givenPlainLock_whenTheClockIsSetForward_thenAnotherMayHoldToo_andTheFirstIsToldWhenItRenews()
      throws Exception {
    String url = start(Layout.PLAIN);
    try (LockStore paused = RedisStore.open(url);
        LockClient other = client(url)) {
      SimulatedProcess first = new SimulatedProcess(paused);
      assertThat(first.acquire(LOCK_NAME, first.attempt(), false))
          .isInstanceOf(Reply.Granted.class);
      clock.set(HOUR);
      try (Lease second = other.lock(LOCK).acquireWithin(Duration.ofSeconds(20))) {
        assertThat(first.notifications())
            .singleElement()
            .isInstanceOf(SessionNotification.HoldEnded.class);
        second.ensureValid();
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void givenDeadHolder_whenTheClockIsSetBack_thenItsLockStaysShut_untilTheClockIsRightAgain(
      Layout layout) throws Exception {
    String url = start(layout);
    try (LockStore crashed = RedisStore.open(url);
        LockClient other = LockClient.connect(url)) {
      LockStore home =
          crashed instanceof PartitionedStore parts
              ? parts.partition(parts.partitionOf(LOCK_NAME))
              : crashed;
      SimulatedProcess dead = new SimulatedProcess(home, TTL);
      assertThat(dead.acquire(LOCK_NAME, dead.attempt(), false)).isInstanceOf(Reply.Granted.class);
      clock.set(HOUR.negated());
      assertThat(other.lock(LOCK).tryAcquire(TTL.plusMillis(500))).isEmpty();
      clock.set(Duration.ZERO);
      await()
          .atMost(Duration.ofSeconds(20))
          // A request in flight when the clock is set forward counts as too late.
          .ignoreExceptionsInstanceOf(LockException.class)
          .until(() -> other.lock(LOCK).tryAcquire(), Optional::isPresent)
          .orElseThrow()
          .close();
    }
  }
}
