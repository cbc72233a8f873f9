package io.mortise.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lettuce.core.KillArgs;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.sync.RedisCommands;
import io.mortise.DistributedLock;
import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockName;
import io.mortise.LockOptions;
import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockQuery;
import io.mortise.spi.AttemptId;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.LockStore;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.SessionVerdict;
import io.mortise.spi.StoreSession;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testserver.RedisServer;
import io.mortise.verification.log.RecordedLog;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests and sessions while server and transports fail. */
class RedisFaultTest {
  private static final Duration LONG = Duration.ofSeconds(30);
  private static final LockName LOCK = LockName.of("invoice/42");

  private final List<AutoCloseable> opened = new ArrayList<>();

  private <T extends AutoCloseable> T open(T resource) {
    opened.add(0, resource);
    return resource;
  }

  @AfterEach
  void closeAll() throws Exception {
    for (AutoCloseable resource : opened) {
      resource.close();
    }
  }

  private RedisCommands<String, String> admin(RedisServer server) {
    RedisClient client = RedisClient.create(server.url());
    open(() -> client.shutdown(Duration.ZERO, Duration.ofSeconds(2)));
    return client.connect().sync();
  }

  /** The transport under test. */
  String transport() {
    return "direct";
  }

  private String url(RedisServer server) {
    return server.url() + "?wire=" + transport();
  }

  private LockStore store(RedisServer server) {
    return open(RedisStore.open(url(server) + "&timeout=15s"));
  }

  /** A short timeout, for servers that do not answer: the test ends sooner. */
  private LockStore impatient(RedisServer server) {
    return open(RedisStore.open(url(server) + "&timeout=1s"));
  }

  private static void awaitGrant(SimulatedProcess party, LockName name) {
    await()
        .atMost(LONG)
        .until(() -> party.acquire(name, party.attempt(), false) instanceof Reply.Granted);
  }

  @Test
  void givenHolder_whenItsConnectionsBreak_thenTheLogSaysSoAtOnce_andWhenItIsBack() {
    RedisServer server = open(RedisServers.any());
    FaultInjectionProxy line = open(FaultInjectionProxy.to(server.port()));
    String port = ":" + line.port();
    String url = url(server).replace(":" + server.port(), port);
    LockClient client = open(LockClient.builder().url(url).ttl(Duration.ofSeconds(60)).build());
    Lease held = client.lock("a").tryAcquire().orElseThrow();

    line.reset();

    // The connections break one after the other: the second break may be noticed after the first
    // reconnect.
    await()
        .atMost(Duration.ofSeconds(15))
        .until(() -> RecordedLog.sessionLinesWith(port).size() >= 2);
    List<String> logged = RecordedLog.sessionLinesWith(port);
    assertThat(logged.get(0))
        .startsWith("WARN SessionLog: The connection to store redis:")
        .contains(" broke: ")
        .matches(".*: 1; the first is lost in [0-9]+s unless the store answers\\.");
    assertThat(logged.get(1))
        .startsWith("INFO SessionLog: Store redis:")
        .contains(" answers renewals again after ")
        .endsWith("leases kept: 1.");
    assertThat(held.isValid()).isTrue();
    held.close();
  }

  @ParameterizedTest
  @EnumSource(RedisServers.class)
  void givenScriptsAreFlushedMidway_thenAllRequestsAreAnswered_inOrder(RedisServers version) {
    RedisServer server = open(version.start());
    LockStore store = store(server);
    RedisCommands<String, String> admin = admin(server);
    SimulatedProcess party = new SimulatedProcess(store);
    for (int round = 0; round < 20; round++) {
      List<CompletableFuture<Reply>> grants = new ArrayList<>();
      List<CompletableFuture<Reply>> ends = new ArrayList<>();
      for (int i = 0; i < 200; i++) {
        AttemptId attempt = party.attempt();
        grants.add(party.send(SimulatedProcess.acquiring(LOCK, attempt, false)));
        ends.add(party.send(new Request.Abandon(LOCK, attempt)));
        if (i == 100) {
          admin.scriptFlush();
        }
      }
      long last = 0;
      for (CompletableFuture<Reply> grant : grants) {
        Reply reply = SimulatedProcess.join(grant);
        assertThat(reply).isInstanceOf(Reply.Granted.class);
        assertThat(((Reply.Granted) reply).token()).isGreaterThan(last);
        last = ((Reply.Granted) reply).token();
      }
      ends.forEach(end -> assertThat(SimulatedProcess.join(end)).isInstanceOf(Reply.Ended.class));
    }
    admin.scriptFlush();
    assertThat(party.renew()).isInstanceOf(Renewal.Renewed.class);
    assertThat(SimulatedProcess.join(store.inspect(LockQuery.of(LOCK.value()))).items()).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"normal", "pubsub"})
  void givenConnectionsAreCut_thenTheStoreComesBack_withItsInbox(String type) {
    RedisServer server = open(RedisServers.any());
    LockStore store = store(server);
    RedisCommands<String, String> admin = admin(server);
    SimulatedProcess holder = new SimulatedProcess(store);
    SimulatedProcess waiter = new SimulatedProcess(store);
    AttemptId held = holder.attempt();
    assertThat(holder.acquire(LOCK, held, false)).isInstanceOf(Reply.Granted.class);
    kill(admin, type);
    awaitGrant(holder, LockName.of("other"));
    AttemptId waits = waiter.attempt();
    await().atMost(LONG).until(() -> waiter.acquire(LOCK, waits, true) instanceof Reply.Queued);
    await().atMost(LONG).until(() -> holder.abandon(LOCK, held) instanceof Reply.Ended);
    await()
        .atMost(LONG)
        .until(
            () ->
                waiter.hints.stream().anyMatch(SessionNotification.HoldGranted.class::isInstance));
    assertThat(waiter.renew()).isInstanceOf(Renewal.Renewed.class);
  }

  @Test
  void givenPasswordIsChanged_whenTheConnectionsBreak_thenItIsSaidWhyThereAreNone() {
    RedisServer server = open(RedisServers.any());
    server.ask("ACL", "SETUSER", "app", "on", ">one", "+@all", "~*", "&*");
    LockStore store =
        open(
            RedisStore.open(
                "redis://app:one@127.0.0.1:" + server.port() + "?timeout=15s&wire=" + transport()));
    SimulatedProcess party = new SimulatedProcess(store);
    server.ask("ACL", "SETUSER", "app", "resetpass", ">two");
    server.ask("CLIENT", "KILL", "USER", "app");
    await().atMost(LONG).until(() -> failure(party).contains("WRONGPASS"));
    assertThat(failure(party)).doesNotContain("one@");
    await()
        .atMost(LONG)
        .until(
            () ->
                party.renew() instanceof Renewal.Unknown unknown
                    && String.valueOf(unknown.cause().getMessage()).contains("WRONGPASS"));
    server.ask("ACL", "SETUSER", "app", ">one");
    await().atMost(LONG).until(() -> failure(party).isEmpty());
  }

  @Test
  void givenUserThatMayNotSubscribe_thenStickyLocksAreGivenBackAtOnce() throws Exception {
    RedisServer server = open(RedisServers.any());
    server.ask("ACL", "SETUSER", "app", "on", ">one", "+@all", "~*", "&*", "-subscribe");
    LockClient client =
        open(
            LockClient.builder()
                .url("redis://app:one@127.0.0.1:" + server.port() + "?wire=" + transport())
                .ttl(Duration.ofSeconds(3))
                .build());
    DistributedLock lock =
        client.lock("sticky").with(LockOptions.DEFAULTS.withSticky(LockOptions.LONGEST_STICKY));
    // The refusal may come later than the first grant.
    await()
        .atMost(LONG)
        .until(
            () -> {
              lock.acquireWithin(LONG).close();
              return client.admin().find("sticky").stream()
                  .allMatch(info -> info.holders().isEmpty());
            });
    server.ask("ACL", "SETUSER", "app", "+subscribe");
  }

  private static String failure(SimulatedProcess party) {
    return party.acquire(LOCK, party.attempt(), false) instanceof Reply.Failed failed
        ? String.valueOf(failed.cause().getMessage())
        : "";
  }

  @Test
  void givenConnectionsAreMadeAnewWhileAScriptRuns_thenTheInboxIsThereAgainAfterIt() {
    RedisServer server = open(RedisServers.any("--lua-time-limit", "50"));
    FaultInjectionProxy faultInjectionProxy = open(FaultInjectionProxy.to(server.port()));
    LockStore store =
        open(
            RedisStore.open(
                "redis://127.0.0.1:" + faultInjectionProxy.port() + "?wire=" + transport()));
    RedisCommands<String, String> admin = admin(server);
    RedisClient script = RedisClient.create(server.url());
    open(() -> script.shutdown(Duration.ZERO, Duration.ofSeconds(2)));
    SimulatedProcess holder = new SimulatedProcess(store);
    SimulatedProcess waiter = new SimulatedProcess(store);
    AttemptId held = holder.attempt();
    AttemptId waits = waiter.attempt();
    assertThat(holder.acquire(LOCK, held, false)).isInstanceOf(Reply.Granted.class);
    assertThat(waiter.acquire(LOCK, waits, true)).isInstanceOf(Reply.Queued.class);

    RedisFuture<Object> busy =
        script.connect().async().eval("while true do end", ScriptOutputType.STATUS);
    await().atMost(LONG).until(() -> isRefusedAsBusy(waiter));
    AtomicInteger connections = new AtomicInteger();
    waiter.session.onSuspectedRestart(connections::incrementAndGet);
    faultInjectionProxy.reset();
    await().atMost(LONG).until(() -> connections.get() >= 2);
    // Behind the subscription, on the same connection.
    await().atMost(LONG).until(() -> isRefusedAsBusy(waiter));
    assertThat(busy.isDone()).isFalse();
    admin.scriptKill();

    await().atMost(LONG).until(() -> admin.pubsubChannels("m::i:*").size() == 2);
    await().atMost(LONG).until(() -> holder.abandon(LOCK, held) instanceof Reply.Ended);
    await()
        .atMost(LONG)
        .until(
            () ->
                waiter.hints.stream().anyMatch(SessionNotification.HoldGranted.class::isInstance));
  }

  private static boolean isRefusedAsBusy(SimulatedProcess party) {
    return party.acquire(LockName.of("other"), party.attempt(), false)
            instanceof Reply.Failed failed
        && String.valueOf(failed.cause().getMessage()).contains("BUSY");
  }

  private static void kill(RedisCommands<String, String> admin, String type) {
    KillArgs all =
        type.equals("pubsub") ? KillArgs.Builder.typePubsub() : KillArgs.Builder.typeNormal();
    admin.clientKill(all.skipme(true));
  }

  @Test
  void givenPushIsLost_whenTheWaiterPolls_thenItLearnsOfItsGrant_andRenewalTellsItToo() {
    RedisServer server = open(RedisServers.any());
    LockStore store = store(server);
    RedisCommands<String, String> admin = admin(server);
    SimulatedProcess holder = new SimulatedProcess(open(RedisStore.open(url(server))));
    SimulatedProcess waiter = new SimulatedProcess(store);
    AttemptId held = holder.attempt();
    AttemptId waits = waiter.attempt();
    holder.acquire(LOCK, held, false);
    assertThat(waiter.acquire(LOCK, waits, true)).isInstanceOf(Reply.Queued.class);
    admin.clientKill(KillArgs.Builder.typePubsub().skipme(true));
    await().atMost(LONG).until(() -> holder.abandon(LOCK, held) instanceof Reply.Ended);
    await().atMost(LONG).until(() -> waiter.acquire(LOCK, waits, true) instanceof Reply.Granted);
    assertThat(waiter.notifications())
        .anyMatch(notifications -> notifications instanceof SessionNotification.HoldGranted);
  }

  @Test
  void givenServerIsKilled_thenWaitingRequestsFailAtOnce_andComesBackAfterARestart() {
    RedisServer server = open(RedisServers.any("--appendonly", "yes"));
    LockStore store = store(server);
    SimulatedProcess party = new SimulatedProcess(store);
    AttemptId held = party.attempt();
    assertThat(party.acquire(LOCK, held, false)).isInstanceOf(Reply.Granted.class);
    server.kill();
    await().atMost(LONG).until(() -> party.acquire(LOCK, held, false) instanceof Reply.Failed);
    long start = System.nanoTime();
    Reply reply = party.acquire(LOCK, held, false);
    assertThat(reply)
        .isInstanceOfSatisfying(
            Reply.Failed.class,
            failed -> {
              assertThat(failed.mayHaveRun()).isFalse();
              assertThat(failed.cause()).isInstanceOf(StoreUnavailableException.class);
            });
    assertThat(party.renew()).isInstanceOf(Renewal.Unknown.class);
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(10));
    server.restart();
    await().atMost(LONG).until(() -> party.acquire(LOCK, held, false) instanceof Reply.Granted);
    await().atMost(LONG).until(() -> party.renew() instanceof Renewal.Renewed);
  }

  @Test
  void givenServerIsRestarted_thenEachConnectionMakesSessionsDoubtful_butNotClosedOnes() {
    RedisServer server = open(RedisServers.any());
    LockStore store = store(server);
    SimulatedProcess party = new SimulatedProcess(store);
    SimulatedProcess closed = new SimulatedProcess(store);
    AtomicInteger doubts = new AtomicInteger();
    AtomicInteger doubtsOfClosed = new AtomicInteger();
    party.session.onSuspectedRestart(doubts::incrementAndGet);
    closed.session.onSuspectedRestart(doubtsOfClosed::incrementAndGet);
    SimulatedProcess.join(closed.session.close());
    assertThat(doubts).as("nothing broke yet").hasValue(0);
    server.restart();
    await().atMost(LONG).until(() -> doubts.get() >= 2);
    assertThat(doubtsOfClosed).hasValue(0);
  }

  @Test
  void givenServerIsKilledWithRequestsUnderWay_thenEachIsAnsweredOnce() {
    RedisServer server = open(RedisServers.any());
    SimulatedProcess party = new SimulatedProcess(store(server));
    server.pause();
    List<CompletableFuture<Reply>> replies = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      replies.add(
          party.send(SimulatedProcess.acquiring(LockName.of("n" + i), party.attempt(), false)));
    }
    server.kill();
    long mayHaveRun =
        replies.stream()
            .map(SimulatedProcess::join)
            .map(Reply.Failed.class::cast)
            .filter(Reply.Failed::mayHaveRun)
            .count();
    assertThat(mayHaveRun).isLessThanOrEqualTo(2L * ScriptPipeline.BATCH);
  }

  @Test
  void givenServerStandsStill_thenRequestsFailInTime_andAreNotExecutedLater() {
    RedisServer server = open(RedisServers.any());
    LockStore store = impatient(server);
    SimulatedProcess party = new SimulatedProcess(store);
    awaitGrant(party, LockName.of("other"));
    server.pause();
    long start = System.nanoTime();
    AttemptId late = party.attempt();
    Reply reply = party.acquire(LOCK, late, false);
    Duration took = Duration.ofNanos(System.nanoTime() - start);
    assertThat(reply)
        .isInstanceOfSatisfying(
            Reply.Failed.class, failed -> assertThat(failed.mayHaveRun()).isTrue());
    assertThat(took).isBetween(Duration.ofMillis(900), Duration.ofSeconds(15));
    server.resume();
    awaitGrant(party, LockName.of("another"));
    assertThat(SimulatedProcess.join(store.inspect(LockQuery.of(LOCK.value()))).items()).isEmpty();
  }

  @Test
  void givenServerStandsStill_whenASessionIsOpened_thenItIsNotCreatedLater() {
    RedisServer server = open(RedisServers.any());
    LockStore store = impatient(server);
    SimulatedProcess other = new SimulatedProcess(store(server));
    SessionSpec spec =
        new SessionSpec(
            SessionId.random(new SecureRandom()),
            Duration.ofMinutes(2),
            new ClientLabel("host", 7, "late"));
    StoreSession late = store.open(spec, notifications -> {});
    server.pause();
    assertThat(SimulatedProcess.join(late.renew(0, 1, List.of())))
        .isInstanceOf(Renewal.Unknown.class);
    server.resume();
    awaitGrant(other, LOCK);
    assertThat(other.renew()).isInstanceOf(Renewal.Renewed.class);

    assertThat(SimulatedProcess.join(store(server).judge(spec.id())))
        .isInstanceOf(SessionVerdict.SessionEnded.class);
    await()
        .atMost(LONG)
        .untilAsserted(
            () ->
                assertThat(SimulatedProcess.join(late.renew(0, 1, List.of())))
                    .as("what is sent now is in time")
                    .isInstanceOf(Renewal.Renewed.class));
  }

  @ParameterizedTest
  @EnumSource(RedisServers.class)
  void givenFullMemory_thenNobodyIsLetIn_butRenewalReleaseAndHandOffGoOn(RedisServers version) {
    RedisServer server = open(version.start());
    LockStore store = store(server);
    RedisCommands<String, String> admin = admin(server);
    SimulatedProcess holder = new SimulatedProcess(store);
    SimulatedProcess waiter = new SimulatedProcess(store);
    AttemptId held = holder.attempt();
    AttemptId waits = waiter.attempt();
    AttemptId alone = holder.attempt();
    LockName other = LockName.of("other");
    holder.acquire(LOCK, held, false);
    holder.acquire(other, alone, false);
    assertThat(waiter.acquire(LOCK, waits, true)).isInstanceOf(Reply.Queued.class);
    admin.configSet("maxmemory", "10kb");
    assertThat(admin.info("memory")).contains("maxmemory_policy:noeviction");

    for (LockName name : List.of(LockName.of("new"), LOCK, other)) {
      Reply reply = holder.acquire(name, holder.attempt(), true);
      assertThat(reply)
          .isInstanceOfSatisfying(
              Reply.Refused.class,
              refused -> assertThat(refused.why()).isEqualTo(Reply.RefusalReason.STORE_FULL));
    }
    assertThat(holder.renew()).isInstanceOf(Renewal.Renewed.class);
    assertThat(waiter.renew()).isInstanceOf(Renewal.Renewed.class);
    assertThat(holder.acquire(LOCK, held, false)).isInstanceOf(Reply.Granted.class);
    assertThat(holder.abandon(other, alone))
        .isEqualTo(
            new Reply.Ended(alone, Reply.AttemptState.HELD, Reply.EndReason.RELEASED, false));
    assertThat(holder.abandon(LOCK, held))
        .isEqualTo(new Reply.Ended(held, Reply.AttemptState.HELD, Reply.EndReason.RELEASED, false));
    assertThat(waiter.acquire(LOCK, waits, true)).isInstanceOf(Reply.Granted.class);
    assertThat(waiter.notifications())
        .anyMatch(notifications -> notifications instanceof SessionNotification.HoldGranted);
    assertThat(waiter.abandon(LOCK, waits)).isInstanceOf(Reply.Ended.class);
    RedisStore.open(url(server)).close();

    admin.configSet("maxmemory", "0");
    assertThat(holder.acquire(LOCK, holder.attempt(), false)).isInstanceOf(Reply.Granted.class);
  }

  @ParameterizedTest
  @EnumSource(RedisServers.class)
  void givenFullMemory_thenIdleLocksAreKeptForAMinuteOnly_andHeldOnesStay(RedisServers version) {
    RedisServer server = open(version.start());
    LockStore store = store(server);
    RedisCommands<String, String> admin = admin(server);
    SimulatedProcess party = new SimulatedProcess(store);
    for (int i = 0; i < 300; i++) {
      LockName name = LockName.of("once/" + i);
      AttemptId attempt = party.attempt();
      party.acquire(name, attempt, false);
      party.abandon(name, attempt);
    }
    AttemptId held = party.attempt();
    party.acquire(LOCK, held, false);
    assertThat(admin.pttl("m::l:once/7")).isGreaterThan(Duration.ofMinutes(2).toMillis());

    admin.configSet("maxmemory", "10kb");
    assertThat(party.acquire(LockName.of("new"), party.attempt(), false))
        .isInstanceOf(Reply.Refused.class);

    for (int i = 0; i < 300; i += 50) {
      String key = "m::l:once/" + i;
      await().atMost(LONG).until(() -> admin.pttl(key) <= Duration.ofMinutes(1).toMillis());
    }
    assertThat(admin.pttl("m::l:" + LOCK)).as("does not expire").isEqualTo(-1);
    assertThat(party.acquire(LOCK, held, false)).isInstanceOf(Reply.Granted.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"l", "q", "d"})
  void givenSomebodyElsesKeyUnderOurName_thenRequestsFail_andNothingIsChanged(String kind) {
    RedisServer server = open(RedisServers.any());
    LockStore store = store(server);
    RedisCommands<String, String> admin = admin(server);
    SimulatedProcess holder = new SimulatedProcess(store);
    SimulatedProcess contender = new SimulatedProcess(store);
    AttemptId held = holder.attempt();
    if (!kind.equals("l")) {
      holder.acquire(LOCK, held, false);
    }
    String key = "m::" + kind + ":" + LOCK;
    admin.lpush(key, "theirs");
    Reply reply = contender.acquire(LOCK, contender.attempt(), true);
    assertThat(reply)
        .isInstanceOfSatisfying(
            Reply.Failed.class,
            failed -> {
              assertThat(failed.mayHaveRun()).isFalse();
              assertThat(failed.cause())
                  .isInstanceOf(StoreUnfitException.class)
                  .hasMessageContaining(LOCK.value());
            });
    assertThat(admin.lrange(key, 0, -1)).containsExactly("theirs");
    admin.del(key);
    if (!kind.equals("l")) {
      assertThat(holder.acquire(LOCK, held, false))
          .isInstanceOfSatisfying(
              Reply.Granted.class, granted -> assertThat(granted.wanted()).isFalse());
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "theirs", "-5", "host", "w", "x", "-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"})
  void givenStringOfSomebodyElse_thenRequestsFail_itStays_andOtherLocksAreSeen(String theirs) {
    RedisServer server = open(RedisServers.any());
    LockStore store = store(server);
    SimulatedProcess party = new SimulatedProcess(store);
    RedisCommands<String, String> admin = admin(server);
    String key = "m::l:" + LOCK;
    admin.set(key, theirs);
    admin.lpush("m::l:list", theirs);
    LockName other = LockName.of("other");
    CompletableFuture<Reply> before =
        party.send(SimulatedProcess.acquiring(other, party.attempt(), false));
    assertThat(party.acquire(LOCK, party.attempt(), true)).isInstanceOf(Reply.Failed.class);
    assertThat(party.abandon(LOCK, party.attempt())).isInstanceOf(Reply.Failed.class);
    assertThat(SimulatedProcess.join(before)).isInstanceOf(Reply.Granted.class);
    assertThat(SimulatedProcess.join(store.inspect(LockQuery.all())).items())
        .extracting(LockInfo::name)
        .containsExactly(other.value());
    assertThat(SimulatedProcess.join(store.sweep(100))).isZero();
    assertThat(admin.get(key)).isEqualTo(theirs);
  }

  @ParameterizedTest
  @EnumSource(RedisServers.class)
  void givenSomebodyElsesKeyAsNews_thenTheSessionLivesOn(RedisServers version) {
    RedisServer server = open(version.start());
    LockStore store = store(server);
    RedisCommands<String, String> admin = admin(server);
    SimulatedProcess holder = new SimulatedProcess(store);
    SimulatedProcess contender = new SimulatedProcess(store);
    String key = "m::n:" + holder.spec.id();
    admin.set(key, "theirs");
    assertThat(holder.acquire(LOCK, holder.attempt(), false)).isInstanceOf(Reply.Granted.class);
    assertThat(contender.acquire(LOCK, contender.attempt(), true)).isInstanceOf(Reply.Queued.class);
    assertThat(holder.notifications()).isEmpty();
    assertThat(SimulatedProcess.join(holder.session.renew(1000, 1001, List.of(1L))))
        .isInstanceOf(Renewal.Lost.class);
    assertThat(admin.get(key)).isEqualTo("theirs");
    admin.del(key);
    admin.zadd(key, 1, "theirs");
    assertThat(holder.notifications()).isEmpty();
    assertThat(SimulatedProcess.join(store.judge(holder.spec.id())))
        .isInstanceOf(SessionVerdict.Alive.class);
  }

  @Test
  void givenRubbishIsPublished_thenTheInboxGoesOn() {
    RedisServer server = open(RedisServers.any());
    LockStore store = store(server);
    SimulatedProcess holder = new SimulatedProcess(store);
    SimulatedProcess contender = new SimulatedProcess(store);
    admin(server).publish("m::i:" + holder.spec.id(), "rubbish");
    holder.acquire(LOCK, holder.attempt(), false);
    contender.acquire(LOCK, contender.attempt(), false);
    await()
        .atMost(LONG)
        .until(
            () -> holder.hints.stream().anyMatch(SessionNotification.Contended.class::isInstance));
  }

  @Test
  void givenRequestsUnderWay_whenTheStoreIsClosed_thenEachIsAnswered() {
    RedisServer server = open(RedisServers.any());
    LockStore store = impatient(server);
    SimulatedProcess party = new SimulatedProcess(store);
    server.pause();
    List<CompletableFuture<Reply>> replies = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      replies.add(
          party.send(SimulatedProcess.acquiring(LockName.of("n" + i), party.attempt(), false)));
    }
    store.close();
    replies.forEach(
        reply -> assertThat(SimulatedProcess.join(reply)).isInstanceOf(Reply.Failed.class));
  }

  @Test
  void givenClosedStore_whenUsed_thenEveryRequestIsAnswered() {
    RedisServer server = open(RedisServers.any());
    LockStore store = store(server);
    SimulatedProcess party = new SimulatedProcess(store);
    store.close();
    assertThat(party.acquire(LOCK, party.attempt(), false))
        .isInstanceOfSatisfying(
            Reply.Failed.class, failed -> assertThat(failed.mayHaveRun()).isFalse());
    assertThat(party.renew()).isInstanceOf(Renewal.Unknown.class);
    SimulatedProcess.join(party.session.close());
    store.close();
  }
}
