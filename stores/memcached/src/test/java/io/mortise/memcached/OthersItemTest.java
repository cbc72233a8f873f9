package io.mortise.memcached;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.SessionNotification;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.SessionDriver;
import io.mortise.testserver.MemcachedServer;
import io.mortise.testserver.MemcachedServer.RawMemcachedConnection;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** A session neither extends, shortens nor deletes the item of another attempt. */
class OthersItemTest {
  private static final LockName LOCK = LockName.of("invoice/42");
  private static final String KEY = "mortise:invoice/42";
  private static final Mode EX = Mode.EXCLUSIVE;
  private static final Duration WAIT = Duration.ofSeconds(20);
  private static final Duration LONG = Duration.ofMinutes(2);
  private static final Duration SHORT = Duration.ofSeconds(10);

  private static long cas(RawMemcachedConnection raw, String key) {
    return Long.parseLong(MetaReply.of(raw.ask("mg " + key + " c")).flag('c'));
  }

  /** It stays listed, as it may have been executed, and the renewal is for all that is listed. */
  @Test
  void givenAcquireThatWasNotAnswered_whenItsSessionRenews_thenTheHoldersItemKeepsItsTime() {
    try (MemcachedServer server = Memcacheds.start();
        RawMemcachedConnection raw = new RawMemcachedConnection(server.port());
        LockStore store = MemcachedStore.open(server.url());
        LockStore waiting = MemcachedStore.open(server.url() + "?timeout=200ms")) {
      SessionDriver holder = SessionDriver.open(store, LONG, "holder");
      SessionDriver waiter = SessionDriver.open(waiting, SHORT, "waiter");
      AttemptId held = holder.hold(LOCK, EX).attempt();
      server.pause();
      Reply unanswered = waiter.acquire(LOCK, waiter.attempt(), EX);
      server.resume();
      assertThat(unanswered)
          .isInstanceOfSatisfying(
              Reply.Failed.class, failed -> assertThat(failed.mayHaveRun()).isTrue());
      BoundedWait.until(WAIT, "it renews", () -> waiter.renew() instanceof Renewal.Renewed);
      assertThat(raw.left(KEY)).isGreaterThan(100);
      assertThat(holder.end(LOCK, held).was()).isEqualTo(Reply.AttemptState.HELD);
    }
  }

  @Test
  void givenLockThatIsAnothersByNow_whenTheFormerHolderRenews_thenTheNewItemKeepsItsTime() {
    MemcachedServer server = Memcacheds.shared();
    String namespace = Memcacheds.namespace();
    try (RawMemcachedConnection raw = new RawMemcachedConnection(server.port());
        LockStore store = MemcachedStore.open(server.url() + "?namespace=" + namespace)) {
      SessionDriver former = SessionDriver.open(store, SHORT, "former");
      SessionDriver holder = SessionDriver.open(store, LONG, "holder");
      AttemptId lost = former.hold(LOCK, EX).attempt();
      assertThat(raw.ask("md " + Memcacheds.key(namespace, "invoice/42"))).isEqualTo("HD");
      AttemptId held = holder.hold(LOCK, EX).attempt();
      assertThat(former.notifications())
          .containsExactly(new SessionNotification.HoldEnded(LOCK, lost, Reply.EndReason.UNKNOWN));
      assertThat(raw.left(Memcacheds.key(namespace, "invoice/42"))).isGreaterThan(100);
      assertThat(holder.end(LOCK, held).was()).isEqualTo(Reply.AttemptState.HELD);
    }
  }

  /** CAS values begin anew with the server. */
  @Test
  void givenServerThatWasRestarted_whenTheFormerHolderReleases_thenAnItemOfTheSameCasValueStays() {
    try (MemcachedServer server = Memcacheds.start();
        LockStore store = MemcachedStore.open(server.url())) {
      SessionDriver former = SessionDriver.open(store, LONG, "former");
      SessionDriver other = SessionDriver.open(store, LONG, "other");
      long cas;
      try (RawMemcachedConnection raw = new RawMemcachedConnection(server.port())) {
        raise(raw, 50);
        former.hold(LOCK, EX);
        cas = cas(raw, KEY);
      }
      AttemptId lost = new AttemptId(former.id(), 1);
      server.kill();
      server.restart();
      BoundedWait.until(WAIT, "it renews", () -> other.renew() instanceof Renewal.Renewed);
      BoundedWait.until(
          WAIT,
          "it locks",
          () -> other.acquire(LockName.of("x"), other.attempt(), EX) instanceof Reply.Granted);
      try (RawMemcachedConnection raw = new RawMemcachedConnection(server.port())) {
        raise(raw, cas - 1);
        String item = new LockItem(other.attempt(), new ClientLabel("h", 1, "x")).encoded();
        assertThat(raw.ask("add " + KEY + " 0 90 " + item.length() + "\r\n" + item))
            .isEqualTo("STORED");
        assertThat(cas(raw, KEY)).as("the control: both have it").isEqualTo(cas);
        assertThat(former.end(LOCK, lost).was()).isEqualTo(Reply.AttemptState.ABSENT);
        assertThat(raw.left(KEY)).isPositive();
      }
    }
  }

  /** Stores until the server has given this CAS value. */
  private static void raise(RawMemcachedConnection raw, long cas) {
    long reached = 0;
    while (reached < cas) {
      assertThat(raw.ask("set raise 0 0 1\r\nx")).isEqualTo("STORED");
      reached = cas(raw, "raise");
    }
    assertThat(reached).isEqualTo(cas);
  }

  /** As by a renewal that is in flight: the release knows the CAS value of before. */
  @Test
  void givenItemThatWasTouchedMeanwhile_whenItIsReleased_thenItIsGone() {
    MemcachedServer server = Memcacheds.shared();
    String namespace = Memcacheds.namespace();
    String key = Memcacheds.key(namespace, "invoice/42");
    try (RawMemcachedConnection raw = new RawMemcachedConnection(server.port());
        LockStore store = MemcachedStore.open(server.url() + "?namespace=" + namespace)) {
      SessionDriver holder = SessionDriver.open(store, LONG, "holder");
      AttemptId attempt = holder.hold(LOCK, EX).attempt();
      long before = cas(raw, key);
      assertThat(raw.ask("md " + key + " I T60 C" + before)).isEqualTo("HD");
      assertThat(raw.ask("md " + key + " I T9 C" + before))
          .as("a touch by a CAS value of before")
          .isEqualTo("EX");
      assertThat(raw.left(key)).isGreaterThan(50);
      assertThat(holder.end(LOCK, attempt).was()).isEqualTo(Reply.AttemptState.HELD);
      assertThat(raw.left(key)).isEqualTo(-1);
    }
  }
}
