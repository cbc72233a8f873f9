package io.mortise.memcached;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.mortise.HoldTerms;
import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.LockException;
import io.mortise.LockName;
import io.mortise.StoreUnavailableException;
import io.mortise.spi.AttemptId;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.StoreUrl;
import io.mortise.spi.time.Ticker;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.SessionDriver;
import io.mortise.testkit.TestPrerequisites;
import io.mortise.testserver.FakeClock;
import io.mortise.testserver.MemcachedServer;
import io.mortise.testserver.MemcachedServer.RawMemcachedConnection;
import io.mortise.verification.log.RecordedLog;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** A lock while its server fails. */
class MemcachedFaultTest {
  private static final LockName LOCK = LockName.of("invoice/42");
  private static final String KEY = "mortise:invoice/42";
  private static final Mode EX = Mode.EXCLUSIVE;
  private static final Duration WAIT = Duration.ofSeconds(20);
  private static final Duration LONG = Duration.ofMinutes(2);

  private static LockClient client(MemcachedServer server, Duration ttl) {
    return LockClient.builder().url(server.url()).ttl(ttl).build();
  }

  @Test
  void givenFullServer_whenAnotherWantsAHeldLock_thenItStaysHeld_asItDoesNotWithTheMetaCommand() {
    try (MemcachedServer server = Memcacheds.start("-m", "2");
        RawMemcachedConnection raw = new RawMemcachedConnection(server.port());
        LockStore store = MemcachedStore.open(server.url())) {
      SessionDriver holder = SessionDriver.open(store, LONG, "holder");
      SessionDriver other = SessionDriver.open(store, LONG, "other");
      AttemptId attempt = holder.hold(LOCK, EX).attempt();
      raw.fill(40);
      assertThat(other.acquire(LOCK, other.attempt(), EX))
          .isInstanceOfSatisfying(
              Reply.Busy.class, busy -> assertThat(busy.holder().attempt()).isEqualTo(attempt));
      assertThat(other.acquire(LockName.of("new"), other.attempt(), EX))
          .isInstanceOfSatisfying(
              Reply.Refused.class,
              refused -> assertThat(refused.why()).isEqualTo(Reply.RefusalReason.STORE_FULL));
      assertThat(raw.ask("mg " + KEY + " T20")).isEqualTo("HD");
      assertThat(holder.notifications()).isEmpty();
      assertThat(raw.left(KEY)).as("a full server extends").isGreaterThan(100);
      String naive = "ms " + KEY + " 40 T900 ME\r\n" + "x".repeat(40);
      assertThat(raw.ask(naive)).startsWith("SERVER_ERROR out of memory");
      assertThat(raw.left(KEY)).as("what a store with ms would have done").isEqualTo(-1);
      assertThat(holder.notifications())
          .containsExactly(
              new SessionNotification.HoldEnded(LOCK, attempt, Reply.EndReason.UNKNOWN));
    }
  }

  @Test
  void givenFullServer_thenAHeldLockIsGivenBack() {
    try (MemcachedServer server = Memcacheds.start("-m", "2");
        RawMemcachedConnection raw = new RawMemcachedConnection(server.port());
        LockStore store = MemcachedStore.open(server.url())) {
      SessionDriver holder = SessionDriver.open(store, LONG, "holder");
      AttemptId attempt = holder.hold(LOCK, EX).attempt();
      raw.fill(40);
      assertThat(holder.end(LOCK, attempt).was()).isEqualTo(Reply.AttemptState.HELD);
      assertThat(raw.left(KEY)).isEqualTo(-1);
    }
  }

  /** The client's clock; each of the first answers that tell the server's clock takes so long. */
  private static Ticker slowAnswers(AtomicLong ahead, Duration each, int answers) {
    AtomicLong readings = new AtomicLong();
    return () -> {
      if (Thread.currentThread().getName().endsWith("-renewals")) {
        long reading = readings.incrementAndGet();
        // One before the question, one after the answer, one behind a failure.
        if (reading % 3 == 2 && reading < answers * 3L) {
          ahead.addAndGet(each.toNanos());
        }
      }
      return Ticker.SYSTEM.nanos() + ahead.get();
    };
  }

  @Test
  void givenFirstAnswerThatTookLong_whenTheNextOneIsFast_thenTheStoreOpens() {
    Ticker ticker = slowAnswers(new AtomicLong(), Duration.ofMillis(1_500), 1);
    StoreUrl url = StoreUrl.parse(Memcacheds.shared().url());
    try (LockStore store = MemcachedServers.connect(url, ticker)) {
      assertThat(SessionDriver.open(store, LONG, "holder").renew())
          .isInstanceOf(Renewal.Renewed.class);
    }
  }

  @Test
  void givenServerThatIsAlwaysSlow_thenOpeningFailsAfterTheTimeout_andSaysHowSlow() {
    AtomicLong ahead = new AtomicLong();
    Ticker ticker = slowAnswers(ahead, Duration.ofMillis(1_500), 1_000);
    StoreUrl url = StoreUrl.parse(Memcacheds.shared().url() + "?timeout=4s");
    assertThatThrownBy(() -> MemcachedServers.connect(url, ticker))
        .isInstanceOf(StoreUnavailableException.class)
        .message()
        .containsPattern("An answer took [0-9.]+s\\. ");
    assertThat(Duration.ofNanos(ahead.get())).isGreaterThan(Duration.ofSeconds(4));
  }

  /** As after a standstill, by a clock of ours that is ahead of the server's. */
  @Test
  void givenServerWhoseClockIsBehind_thenNoRenewalCountsUntilItIsRight_andLocksMayStillBeTaken() {
    AtomicLong ahead = new AtomicLong();
    StoreUrl url =
        StoreUrl.parse(Memcacheds.shared().url() + "?namespace=" + Memcacheds.namespace());
    try (LockStore store =
        MemcachedServers.connect(url, () -> Ticker.SYSTEM.nanos() + ahead.get())) {
      SessionDriver holder = SessionDriver.open(store, LONG, "holder");
      holder.hold(LOCK, EX);
      ahead.set(TimeUnit.SECONDS.toNanos(10));
      assertThat(holder.renew())
          .isInstanceOfSatisfying(
              Renewal.Unknown.class,
              unknown -> assertThat(unknown.cause()).hasMessageContaining("stood still"));
      // It counts from the renewal before.
      holder.hold(LockName.of("other"), EX);
      BoundedWait.until(WAIT, "it renews", () -> holder.renew() instanceof Renewal.Renewed);
      assertThat(holder.notifications()).isEmpty();
    }
  }

  /** A time that the first answer took would hide as much of a standstill. */
  @Test
  void givenFirstReadingThatTookLong_thenAStandstillIsMeasuredFromWhenItWasSent() {
    StoreUrl url =
        StoreUrl.parse(Memcacheds.shared().url() + "?namespace=" + Memcacheds.namespace());
    BoundedWait.until(WAIT, "a renewal does not count", () -> isBehindAfterSlowReading(url));
  }

  /** Not so if the server's clock moves on between two readings. */
  private static boolean isBehindAfterSlowReading(StoreUrl url) {
    AtomicLong ahead = new AtomicLong();
    Ticker ticker = slowAnswers(ahead, Duration.ofMillis(900), 1);
    try (LockStore store = MemcachedServers.connect(url, ticker)) {
      SessionDriver holder = SessionDriver.open(store, LONG, "holder");
      ahead.addAndGet(TimeUnit.MILLISECONDS.toNanos(1_500));
      return holder.renew() instanceof Renewal.Unknown;
    }
  }

  /**
   * Its clock catches up after the requests that it finds: an item that they wrote may end at once.
   */
  @Test
  void givenServerThatStoodStill_whenItGoesOn_thenALockIsThereForAsLongAsItsHolderReliesOnIt() {
    Duration ttl = Duration.ofSeconds(5);
    List<LockStore> stores = new ArrayList<>();
    List<RawMemcachedConnection> raws = new ArrayList<>();
    try (MemcachedServer server = Memcacheds.start()) {
      for (int i = 0; i < 10; i++) {
        stores.add(MemcachedStore.open(server.url() + "?timeout=20s"));
        raws.add(new RawMemcachedConnection(server.port()));
      }
      List<SessionDriver> sessions =
          stores.stream().map(store -> SessionDriver.open(store, ttl, "x")).toList();
      server.pause();
      BoundedWait.pass(Duration.ofMillis(4_200));
      long sent = System.nanoTime();
      List<CompletableFuture<Renewal>> renewals =
          sessions.stream()
              .map(SessionDriver::session)
              .map(session -> session.renew(1, 2, List.of()).toCompletableFuture())
              .toList();
      List<CompletableFuture<Reply>> replies = new ArrayList<>();
      for (int i = 0; i < 10; i++) {
        replies.add(acquire(sessions.get(i), LockName.of("n" + i)));
        raws.get(i).send("add raw" + i + " 0 8 1\r\nx");
      }
      BoundedWait.pass(Duration.ofMillis(200));
      server.resume();
      replies.forEach(BoundedWait::join);
      raws.forEach(raw -> assertThat(raw.read()).isEqualTo("STORED"));
      BoundedWait.pass(ttl.minusMillis(300).minusNanos(System.nanoTime() - sent));
      int ended = 0;
      int reliedOn = 0;
      for (int i = 0; i < 10; i++) {
        ended += raws.get(i).left("raw" + i) < 0 ? 1 : 0;
        boolean relies =
            replies.get(i).join() instanceof Reply.Granted
                && BoundedWait.join(renewals.get(i)) instanceof Renewal.Renewed;
        reliedOn += relies ? 1 : 0;
        assertThat(!relies || raws.get(i).left("mortise:n" + i) > 0)
            .as("lock %s after %s and %s", i, replies.get(i), renewals.get(i))
            .isTrue();
      }
      assertThat(ended + reliedOn)
          .as("the control: items that ended, leases relied on")
          .isPositive();
    } finally {
      raws.forEach(RawMemcachedConnection::close);
      stores.forEach(LockStore::close);
    }
  }

  private static CompletableFuture<Reply> acquire(SessionDriver session, LockName name) {
    CompletableFuture<Reply> reply = new CompletableFuture<>();
    session
        .session()
        .submit(
            new Request.Acquire(name, session.attempt(), EX, false, HoldTerms.NONE, 1, 0, null),
            reply::complete);
    return reply;
  }

  @Test
  void givenServerThatComesBackEmpty_thenAnotherIsGranted_andTheFormerHolderIsToldAtOnce()
      throws Exception {
    try (MemcachedServer server = Memcacheds.start();
        LockClient holder = client(server, Duration.ofMinutes(5));
        LockClient other = client(server, WAIT)) {
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
      assertThat(RecordedLog.linesWith("memcached:127.0.0.1:" + server.port()))
          .filteredOn(line -> line.contains("has forgotten items"))
          .as("each of the two clients says so, once")
          .hasSize(2)
          .allMatch(line -> line.startsWith("WARN ServerClockReader: "));
    }
  }

  @Test
  void givenHolder_whenTheServerIsFlushed_thenItIsToldByARenewal_andMayLockAgain() {
    try (MemcachedServer server = Memcacheds.start();
        RawMemcachedConnection raw = new RawMemcachedConnection(server.port());
        LockStore store = MemcachedStore.open(server.url())) {
      SessionDriver holder = SessionDriver.open(store, LONG, "holder");
      AttemptId attempt = holder.hold(LOCK, EX).attempt();
      assertThat(raw.ask("flush_all")).isEqualTo("OK");
      List<SessionNotification> told = new ArrayList<>();
      BoundedWait.until(
          WAIT,
          "a renewal was answered",
          () ->
              holder.renew() instanceof Renewal.Renewed renewed
                  && renewed.notifications().stream()
                      .map(Renewal.NumberedNotification::notification)
                      .allMatch(told::add));
      assertThat(told)
          .containsExactly(
              new SessionNotification.HoldEnded(LOCK, attempt, Reply.EndReason.UNKNOWN));
      AttemptId next = holder.attempt();
      BoundedWait.until(
          WAIT, "it may lock again", () -> holder.acquire(LOCK, next, EX) instanceof Reply.Granted);
    }
  }

  @Test
  void givenServerThatIsStopped_thenWhoAsksIsTold_andTheWaitGoesOnAfterwards() throws Exception {
    try (MemcachedServer server = Memcacheds.start();
        LockClient client = LockClient.connect(server.url() + "?timeout=1s")) {
      client.lock("warm").acquireWithin(WAIT).close();
      server.pause();
      assertThatThrownBy(() -> client.lock("x").tryAcquire())
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("memcached:127.0.0.1:" + server.port());
      CompletableFuture<Lease> waiting = client.lock("y").acquireAsync(WAIT);
      BoundedWait.pass(Duration.ofMillis(1500));
      assertThat(waiting).isNotDone();
      server.resume();
      waiting.get(20, TimeUnit.SECONDS).close();
    }
  }

  @Test
  void givenGrantWhoseAnswerWasLost_whenAskedAgain_thenItsTimeBeginsAnew() {
    MemcachedServer server = Memcacheds.shared();
    String namespace = Memcacheds.namespace();
    try (RawMemcachedConnection raw = new RawMemcachedConnection(server.port());
        LockStore store = MemcachedStore.open(server.url() + "?namespace=" + namespace)) {
      SessionDriver holder = SessionDriver.open(store, LONG, "holder");
      AttemptId attempt = holder.attempt();
      // As if it had been executed long ago, and nobody had heard of it.
      addItem(raw, namespace, attempt);
      assertThat(holder.acquire(LOCK, attempt, EX)).isInstanceOf(Reply.Granted.class);
      assertThat(raw.left(Memcacheds.key(namespace, "invoice/42"))).isGreaterThan(100);
      assertThat(holder.end(LOCK, attempt).was()).isEqualTo(Reply.AttemptState.HELD);
    }
  }

  /** Adds the item of an acquire, as one that is executed outside its client's sight. */
  private static void addItem(RawMemcachedConnection raw, String namespace, AttemptId attempt) {
    String item = new LockItem(attempt, new ClientLabel("h", 1, "x")).encoded();
    String key = Memcacheds.key(namespace, "invoice/42");
    raw.ask("add " + key + " 0 9 " + item.length() + "\r\n" + item);
  }

  @Test
  void givenRequestThatArrivesAfterItsAbandon_thenNobodyKeepsItAlive() {
    MemcachedServer server = Memcacheds.shared();
    String namespace = Memcacheds.namespace();
    try (RawMemcachedConnection raw = new RawMemcachedConnection(server.port());
        LockStore store = MemcachedStore.open(server.url() + "?namespace=" + namespace)) {
      SessionDriver holder = SessionDriver.open(store, LONG, "holder");
      AttemptId attempt = holder.hold(LOCK, EX).attempt();
      holder.end(LOCK, attempt);
      addItem(raw, namespace, attempt);
      assertThat(holder.renew()).isInstanceOf(Renewal.Renewed.class);
      assertThat(raw.left(Memcacheds.key(namespace, "invoice/42"))).isLessThanOrEqualTo(9);
    }
  }

  @Test
  void givenManyLocks_whenSomebodyDeletesOne_thenOneRenewalTellsOfThatOne_andExtendsTheOthers() {
    MemcachedServer server = Memcacheds.shared();
    String namespace = Memcacheds.namespace();
    try (RawMemcachedConnection raw = new RawMemcachedConnection(server.port());
        LockStore store = MemcachedStore.open(server.url() + "?namespace=" + namespace)) {
      SessionDriver holder = SessionDriver.open(store, LONG, "holder");
      for (int i = 0; i < 200; i++) {
        holder.hold(LockName.of("n" + i), EX);
      }
      raw.ask("md " + Memcacheds.key(namespace, "n77"));
      raw.ask("mg " + Memcacheds.key(namespace, "n78") + " T20");
      assertThat(holder.notifications())
          .singleElement()
          .satisfies(told -> assertThat(told.name().value()).isEqualTo("n77"));
      assertThat(raw.left(Memcacheds.key(namespace, "n78"))).isGreaterThan(100);
    }
  }

  @Test
  void givenTwoServers_whenOneIsDown_thenItsNamesFail_andTheOthersGoOn_untilItIsBack() {
    try (MemcachedServer first = Memcacheds.start();
        MemcachedServer second = Memcacheds.start()) {
      second.kill();
      String url = first.url() + ",127.0.0.1:" + second.port();
      try (LockClient client = LockClient.connect(url)) {
        List<String> there = new ArrayList<>();
        List<String> missing = new ArrayList<>();
        for (int i = 0; i < 200 && (there.isEmpty() || missing.isEmpty()); i++) {
          String name = "n" + i;
          try (Lease lease = client.lock(name).tryAcquire().orElseThrow()) {
            lease.ensureValid();
            there.add(name);
          } catch (StoreUnavailableException e) {
            assertThat(e).hasMessageContaining("memcached:127.0.0.1:" + second.port());
            missing.add(name);
          }
        }
        assertThat(there).isNotEmpty();
        assertThat(missing).isNotEmpty();
        second.restart();
        await()
            .atMost(WAIT)
            .ignoreExceptionsInstanceOf(StoreUnavailableException.class)
            .until(
                () -> {
                  client.lock(missing.get(0)).tryAcquire().orElseThrow().close();
                  return true;
                });
      }
    }
  }

  @Test
  void givenEvictingServerThatIsAccepted_whenItEvictsAHeldLock_thenTheHolderIsTold() {
    try (MemcachedServer server = Memcacheds.plain("-m", "2");
        RawMemcachedConnection raw = new RawMemcachedConnection(server.port());
        LockStore store = MemcachedStore.open(server.url() + "?accept-eviction=true")) {
      SessionDriver holder = SessionDriver.open(store, LONG, "holder");
      holder.hold(LOCK, EX);
      String value = "x".repeat(40);
      for (int i = 0; i < 60_000; i++) {
        raw.ask("ms evict" + i + " 40\r\n" + value);
      }
      assertThat(raw.left(KEY)).as("it was evicted").isEqualTo(-1);
      BoundedWait.until(WAIT, "the holder was told", () -> isToldOf(holder.renew()));
    }
  }

  /** It counts by the monotonic clock of its host. */
  @Test
  void givenServer_whenItsTimeOfDayIsSet_thenAHeldLockLivesNeitherShorterNorLonger() {
    Path program = TestPrerequisites.required(MemcachedServer.installed(), "The program memcached");
    try (FakeClock clock = TestPrerequisites.required(FakeClock.installed(), "libfaketime");
        MemcachedServer server = MemcachedServer.start(clock, program, "-M");
        RawMemcachedConnection raw = new RawMemcachedConnection(server.port());
        LockStore store = MemcachedStore.open(server.url())) {
      SessionDriver holder = SessionDriver.open(store, LONG, "holder");
      SessionDriver other = SessionDriver.open(store, LONG, "other");
      AttemptId attempt = holder.hold(LOCK, EX).attempt();
      for (Duration offset : List.of(Duration.ofHours(1), Duration.ofHours(-1))) {
        clock.set(offset);
        // Two of its ticks, so that it has seen the clock.
        BoundedWait.pass(Duration.ofMillis(2100));
        assertThat(raw.left(KEY)).isBetween(100L, 123L);
        assertThat(other.acquire(LOCK, other.attempt(), EX)).isInstanceOf(Reply.Busy.class);
      }
      assertThat(holder.notifications()).isEmpty();
      assertThat(holder.end(LOCK, attempt).was()).isEqualTo(Reply.AttemptState.HELD);
    }
  }

  private static boolean isToldOf(Renewal renewal) {
    return renewal instanceof Renewal.Renewed renewed
        && renewed.notifications().stream()
            .anyMatch(told -> told.notification().name().equals(LOCK));
  }
}
