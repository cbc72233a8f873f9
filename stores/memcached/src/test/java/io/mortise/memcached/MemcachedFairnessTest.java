package io.mortise.memcached;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockName;
import io.mortise.admin.LockQuery;
import io.mortise.spi.AttemptId;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.StoreUrl;
import io.mortise.spi.time.Ticker;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.SessionDriver;
import io.mortise.testserver.MemcachedServer;
import io.mortise.testserver.MemcachedServer.RawMemcachedConnection;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A holder hears that another process met its hold, and then leaves the lock to it. */
class MemcachedFairnessTest {
  private static final LockName LOCK = LockName.of("invoice/42");
  private static final Mode EX = Mode.EXCLUSIVE;
  private static final Duration WAIT = Duration.ofSeconds(20);
  private static final Duration LONG = Duration.ofMinutes(2);
  private static final Duration HOLD = Duration.ofMillis(20);
  private static final int GRANTS = 20;

  private final MemcachedServer server = Memcacheds.shared();
  private final String namespace = Memcacheds.namespace();
  private final String url = server.url() + "?namespace=" + namespace;
  private final RawMemcachedConnection raw = new RawMemcachedConnection(server.port());
  private final AtomicLong ahead = new AtomicLong();
  private final LockStore store =
      MemcachedServers.connect(StoreUrl.parse(url), () -> Ticker.SYSTEM.nanos() + ahead.get());
  private final SessionDriver holder = SessionDriver.open(store, LONG, "holder");
  private final SessionDriver other = SessionDriver.open(store, LONG, "other");

  @AfterEach
  void close() {
    store.close();
    raw.close();
  }

  private boolean isMarked() {
    return MetaReply.of(raw.ask("mg " + Memcacheds.key(namespace, "invoice/42") + " u h"))
        .flag('h')
        .equals("1");
  }

  /** As if the hold had lasted for longer than a few round trips. */
  private void pass() {
    ahead.addAndGet(HOLD.toNanos());
  }

  @Test
  void givenHoldThatAnotherMet_whenItIsReleased_thenItsHolderHears_andNotOfTheNextOne() {
    AttemptId met = holder.hold(LOCK, EX).attempt();
    assertThat(other.acquire(LOCK, other.attempt(), EX)).isInstanceOf(Reply.Busy.class);
    BoundedWait.until(WAIT, "the item is marked", this::isMarked);
    pass();
    assertThat(holder.renew()).isInstanceOf(Renewal.Renewed.class);
    assertThat(holder.end(LOCK, met).was()).isEqualTo(Reply.AttemptState.HELD);
    AttemptId next = holder.hold(LOCK, EX).attempt();
    pass();
    assertThat(holder.end(LOCK, next).was()).isEqualTo(Reply.AttemptState.HELD);
    assertThat(holder.hints().all()).containsExactly(new SessionNotification.Contended(LOCK, met));
    assertThat(other.hints().all()).isEmpty();
  }

  @Test
  void givenHoldThatOnlyItsSessionMet_whenItIsRenewedShownAndReleased_thenItsHolderHearsNothing() {
    AttemptId attempt = holder.hold(LOCK, EX).attempt();
    assertThat(holder.acquire(LOCK, holder.attempt(), EX)).isInstanceOf(Reply.Busy.class);
    assertThat(holder.acquire(LOCK, attempt, EX)).isInstanceOf(Reply.Granted.class);
    assertThat(holder.renew()).isInstanceOf(Renewal.Renewed.class);
    assertThat(BoundedWait.join(store.inspect(LockQuery.of(LOCK.value()))).items()).hasSize(1);
    pass();
    assertThat(holder.end(LOCK, attempt).was()).isEqualTo(Reply.AttemptState.HELD);
    assertThat(holder.hints().all()).isEmpty();
  }

  @Test
  void givenProcessThatReacquiresAtOnce_whenOthersWait_thenEachGetsTheLockAfterAFewHolds()
      throws Exception {
    AtomicInteger holds = new AtomicInteger();
    AtomicBoolean over = new AtomicBoolean();
    try (LockClient hog = LockClient.connect(url);
        LockClient first = LockClient.connect(url);
        LockClient second = LockClient.connect(url)) {
      CompletableFuture<Void> hogging =
          CompletableFuture.runAsync(() -> holdAgainAndAgain(hog, holds, over));
      try {
        for (int i = 0; i < GRANTS; i++) {
          int before = holds.get();
          BoundedWait.until(WAIT, "it is held", () -> holds.get() > before);
          LockClient waiter = i % 2 == 0 ? first : second;
          waiter.lock(LOCK.value()).acquireWithin(WAIT).close();
        }
      } finally {
        over.set(true);
      }
      hogging.get(20, TimeUnit.SECONDS);
    }
    assertThat(holds.get()).isBetween(GRANTS, 20 * GRANTS);
  }

  private static void holdAgainAndAgain(
      LockClient client, AtomicInteger holds, AtomicBoolean over) {
    while (!over.get()) {
      try (Lease lease = client.lock(LOCK.value()).acquireWithin(WAIT)) {
        lease.ensureValid();
        holds.incrementAndGet();
        BoundedWait.pass(HOLD);
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
  }
}
