package io.mortise.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.HoldTerms;
import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.testserver.RedisServer;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A rolling upgrade: this version understands keys as release 0.1.0 writes them. The texts here
 * never change; a release that writes others adds a test of its own. {@link LockTranscriptTest}
 * fixes what this version writes.
 */
class EarlierKeysTest {
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final String HOLDER = "EarlierLives---------0";
  private static final String WAITER = "EarlierLives---------1";

  private static RedisServer server;
  private static ForeignClient earlier;

  private LockStore store;
  private SimulatedProcess later;

  @BeforeAll
  static void start() {
    server = RedisServers.any();
    earlier = new ForeignClient(server.port());
  }

  @AfterAll
  static void stop() {
    earlier.close();
    server.close();
  }

  @BeforeEach
  void open() {
    earlier.call("FLUSHALL");
    earlier.call(
        "SET", "m::s:EarlierLives", "0000000000000001" + "0000000003600000" + "0host 7 earlier");
    earlier.call("PEXPIRE", "m::s:EarlierLives", "3600000");
    store = RedisStore.open(server.url());
    later = new SimulatedProcess(store);
  }

  @AfterEach
  void close() {
    store.close();
  }

  @Test
  void givenHolderOfAnEarlierRelease_whenThisOneAcquires_thenItQueuesBehindIt() {
    earlier.call("SET", "m::l:held", "h" + "1795645008725068" + HOLDER + "0001");

    Reply.Queued queued = (Reply.Queued) acquire("held", Mode.EXCLUSIVE, true);

    assertThat(queued.ahead()).isZero();
    assertThat(queued.holder().attempt()).isEqualTo(AttemptId.parse(HOLDER));
    assertThat(queued.holder().token()).isEqualTo(1795645008725068L);
  }

  @Test
  void givenWaiterOfAnEarlierRelease_whenThisOneAcquires_thenItIsNext() {
    earlier.call("SET", "m::l:awaited", "w" + "1795645008691177" + HOLDER + "0001");
    earlier.call("ZADD", "m::q:awaited", "1795645008708747", WAITER);
    earlier.call("HSET", "m::d:awaited", WAITER, "w" + "1795645008708747" + "0001");
    LockName name = LockName.of("awaited");
    AttemptId attempt = later.attempt();
    assertThat(((Reply.Queued) later.acquire(name, attempt, true)).ahead()).isEqualTo(1);

    later.abandon(name, AttemptId.parse(HOLDER));
    Reply.Queued queued = (Reply.Queued) later.acquire(name, attempt, true);
    assertThat(queued.holder().attempt()).isEqualTo(AttemptId.parse(WAITER));

    later.abandon(name, AttemptId.parse(WAITER));
    assertThat(later.acquire(name, attempt, true)).isInstanceOf(Reply.Granted.class);
  }

  @Test
  void givenHolderThatDiedWithAnEarlierRelease_whenThisOneAcquires_thenItsTokenIsGreater()
      throws Exception {
    earlier.call("SET", "m::l:dead", "h" + "7000000000000000" + "EarlierEnded---------0" + "0001");

    try (LockClient client = LockClient.builder().store(store).ttl(TTL).build();
        Lease lease = client.lock("dead").acquireWithin(TTL)) {
      assertThat(lease.token()).isGreaterThan(7000000000000000L);
    }
  }

  @Test
  void givenLockThatAnEarlierReleaseHadLast_whenThisOneAcquires_thenItsTokenIsGreater() {
    earlier.call("SET", "m::l:free", "-" + "8000000000000000" + HOLDER + "R");

    Reply.Granted granted = (Reply.Granted) acquire("free", Mode.EXCLUSIVE, true);

    assertThat(granted.token()).isGreaterThan(8000000000000000L);
  }

  @Test
  void givenReaderAndPermitsOfAnEarlierRelease_whenThisOneAcquires_thenTheyCount() {
    String nothing = "0000000000000000";
    String hold =
        "1795645008816166" + "0000" + "1795645008816166" + nothing.repeat(2) + "0" + nothing;
    String end = ".".repeat(23);
    earlier.call(
        "SET",
        "m::l:shared",
        "x1795645008816166"
            + end
            + "100000000000010000001"
            + nothing.replaceFirst("0$", "1")
            + nothing.repeat(2));
    earlier.call("ZADD", "m::o:shared", "1", HOLDER);
    earlier.call("HSET", "m::d:shared", HOLDER, "h0000001" + hold);
    earlier.call(
        "SET",
        "m::l:permits",
        "x1795645008816166"
            + end
            + "000000300000020000001"
            + nothing.replaceFirst("0$", "1")
            + nothing.repeat(2));
    earlier.call("ZADD", "m::o:permits", "1", WAITER);
    earlier.call("HSET", "m::d:permits", WAITER, "h0000002" + hold);

    assertThat(acquire("shared", Mode.EXCLUSIVE, false)).isInstanceOf(Reply.Busy.class);
    assertThat(acquire("shared", Mode.SHARED, false)).isInstanceOf(Reply.Granted.class);
    assertThat(acquire("permits", Mode.permits(2, 3), false)).isInstanceOf(Reply.Busy.class);
    assertThat(acquire("permits", Mode.permits(1, 3), false)).isInstanceOf(Reply.Granted.class);
  }

  @Test
  void givenAtLeastTimeOfAnEarlierRelease_whenThisOneAcquires_thenTheLockIsShut() {
    long now = ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
    String until = Long.toString(now + ChronoUnit.HOURS.getDuration().toSeconds() * 1_000_000);
    earlier.call("SET", "m::l:shut", "=" + "1795645008913176" + HOLDER + "R" + until);

    assertThat(acquire("shut", Mode.EXCLUSIVE, false)).isInstanceOf(Reply.Busy.class);
  }

  private Reply acquire(String name, Mode mode, boolean queue) {
    return later.ask(
        new Request.Acquire(
            LockName.of(name), later.attempt(), mode, queue, HoldTerms.NONE, 1, 0, null));
  }
}
