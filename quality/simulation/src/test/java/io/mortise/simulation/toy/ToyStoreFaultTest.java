package io.mortise.simulation.toy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.admin.Eviction;
import io.mortise.admin.LockQuery;
import io.mortise.simulation.toy.ContendedDocuments.Loss;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.AttemptState;
import io.mortise.spi.Reply.EndReason;
import io.mortise.spi.Request;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionVerdict;
import io.mortise.spi.StoreProfile;
import io.mortise.support.document.DocumentStore;
import io.mortise.support.document.VersionedDocuments;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.ManualTime;
import io.mortise.testkit.SessionDriver;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Conflicting or unanswered writes: two documents never change together. */
class ToyStoreFaultTest {
  private static final LockName LOCK = LockName.of("lock");
  private static final Duration TTL = Duration.ofMinutes(5);
  private static final Mode EX = Mode.EXCLUSIVE;

  private final ExecutorService threads = Executors.newFixedThreadPool(3);
  private final ManualTime time = new ManualTime();
  private final ToyDocuments server = new ToyDocuments(ToyStoreUnderTest.micros(time));

  @AfterEach
  void endThreads() {
    threads.shutdownNow();
  }

  /** If any write of a hand-off is unanswered, repeating the same requests completes it. */
  @ParameterizedTest
  @EnumSource
  void givenHandOffThatLosesAWriteOrItsAnswer_whenSentAgain_thenItIsCompleted(Loss loss) {
    for (int lost = 1; lost <= 8; lost++) {
      LockName name = LockName.of("lock/" + lost);
      AtomicInteger writes = new AtomicInteger();
      int which = lost;
      SessionDriver a = SessionDriver.open(ToyStore.open(server), TTL, "a");
      SessionDriver b = SessionDriver.open(ToyStore.open(server), TTL, "b");
      LockStore store =
          ToyStore.open(
              new ContendedDocuments(
                  server,
                  threads,
                  key -> false,
                  key -> writes.incrementAndGet() == which ? loss : Loss.NOTHING));
      SessionDriver first = a.twin(store);
      SessionDriver second = b.twin(store);
      AttemptId holding = first.attempt();
      AttemptId waiting = second.attempt();
      granted(answered(first, acquire(name, holding)));
      assertThat(answered(second, acquire(name, waiting))).isInstanceOf(Reply.Queued.class);
      Reply ended = answered(first, new Request.Abandon(name, holding));
      assertThat(ended)
          .isEqualTo(new Reply.Ended(holding, AttemptState.HELD, EndReason.RELEASED, false));
      granted(answered(second, acquire(name, waiting)));
      assertThat(b.notifications())
          .filteredOn(SessionNotification.HoldEnded.class::isInstance)
          .isEmpty();
      assertThat(view(store, name)).containsExactly(waiting);
    }
  }

  /** Returns the answer to a request, repeating it if unanswered. */
  private static Reply answered(SessionDriver session, Request request) {
    Reply reply = session.ask(request);
    if (reply instanceof Reply.Failed failed) {
      assertThat(failed.mayHaveRun()).isTrue();
      assertThat(failed.cause()).hasMessage("no answer");
      return session.ask(request);
    }
    return reply;
  }

  private static Request.Acquire acquire(LockName name, AttemptId attempt) {
    return new Request.Acquire(name, attempt, EX, true, HoldTerms.NONE, 1, 0, null);
  }

  private static Reply.Granted granted(Reply reply) {
    assertThat(reply).isInstanceOf(Reply.Granted.class);
    return (Reply.Granted) reply;
  }

  private static List<AttemptId> view(LockStore store, LockName name) {
    return BoundedWait.join(store.inspect(LockQuery.of(name.value()))).items().stream()
        .flatMap(lock -> lock.holders().stream())
        .map(holder -> AttemptId.parse(holder.attempt()))
        .toList();
  }

  @Test
  void givenAcquireThatLandsAfterItsAbandon_whenAbandonedAgain_thenTheLockIsFree() {
    AtomicInteger losing = new AtomicInteger();
    ContendedDocuments documents =
        new ContendedDocuments(
            server,
            threads,
            key -> false,
            key -> losing.getAndSet(0) == 1 ? Loss.LATE : Loss.NOTHING);
    LockStore store = ToyStore.open(documents);
    SessionDriver a = SessionDriver.open(store, TTL, "a");
    SessionDriver b = SessionDriver.open(store, TTL, "b");
    AttemptId late = a.attempt();
    losing.set(1);
    assertThat(a.ask(acquire(LOCK, late))).isInstanceOf(Reply.Failed.class);
    assertThat(a.ask(new Request.Abandon(LOCK, late))).isInstanceOf(Reply.Ended.class);
    documents.landLateWrites();
    assertThat(view(store, LOCK)).containsExactly(late);
    assertThat(a.ask(new Request.Abandon(LOCK, late))).isInstanceOf(Reply.Ended.class);
    granted(b.acquire(LOCK, b.attempt(), EX));
  }

  @Test
  void givenDocumentsThatThrow_thenEachRequestIsAnswered() {
    AtomicInteger throwing = new AtomicInteger();
    VersionedDocuments documents =
        (VersionedDocuments)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {VersionedDocuments.class},
                (proxy, method, arguments) -> {
                  if (throwing.get() == 1) {
                    throw new RejectedExecutionException("closed");
                  }
                  return method.invoke(server, arguments);
                });
    SessionDriver a = SessionDriver.open(ToyStore.open(documents), TTL, "a");
    throwing.set(1);
    for (int i = 0; i < 2; i++) {
      assertThat(a.acquire(LOCK, a.attempt(), EX)).isInstanceOf(Reply.Failed.class);
    }
    assertThat(a.renew()).isInstanceOf(Renewal.Unknown.class);
    throwing.set(0);
    granted(a.acquire(LOCK, a.attempt(), EX));
    throwing.set(1);
    a.close();
  }

  @Test
  void givenRenewalWithoutAnswer_thenItIsUnknown_andTheSameBeatIsAcceptedAgain() {
    AtomicInteger writes = new AtomicInteger();
    LockStore store =
        ToyStore.open(
            new ContendedDocuments(
                server,
                threads,
                key -> false,
                key -> writes.incrementAndGet() == 2 ? Loss.ANSWER : Loss.NOTHING));
    SessionDriver a = SessionDriver.open(store, TTL, "a");
    assertThat(a.renew()).isInstanceOf(Renewal.Unknown.class);
    assertThat(a.renew()).isInstanceOf(Renewal.Renewed.class);
  }

  @Test
  void givenRenewalBeforeTheNoteOfAnEviction_thenTheHoldStandsForAsLongAsItsOwnerMayBelieve() {
    LockStore plain = ToyStore.open(server);
    SessionDriver a = SessionDriver.open(plain, TTL, "a");
    SessionDriver b = SessionDriver.open(plain, TTL.multipliedBy(3), "b");
    AttemptId attempt = a.hold(LOCK, EX).attempt();
    time.advance(Duration.ofMinutes(1));
    LockStore evicting = beforeFirstWrite(() -> renewed(a));
    BoundedWait.join(evicting.evict(LOCK, attempt, Eviction.CLOSE));
    time.advance(TTL.minusSeconds(10));
    assertThat(b.acquire(LOCK, b.attempt(), EX)).isInstanceOf(Reply.Busy.class);
    time.advance(Duration.ofSeconds(10));
    granted(b.acquire(LOCK, b.attempt(), EX));
  }

  @Test
  void givenEvictionOfAnExpiredHolder_whenItsRenewalIsWrittenLate_thenItIsLost() {
    LockStore plain = ToyStore.open(server);
    SessionDriver a = SessionDriver.open(plain, TTL, "a");
    SessionDriver b = SessionDriver.open(plain, TTL.multipliedBy(3), "b");
    AttemptId attempt = a.hold(LOCK, EX).attempt();
    LockStore late =
        beforeFirstWrite(
            () -> {
              time.advance(TTL);
              BoundedWait.join(plain.evict(LOCK, attempt, Eviction.CLOSE));
              granted(b.acquire(LOCK, b.attempt(), EX));
            });
    assertThat(a.twin(late).renew()).isInstanceOf(Renewal.Lost.class);
  }

  private static void renewed(SessionDriver session) {
    assertThat(session.renew()).isInstanceOf(Renewal.Renewed.class);
  }

  /** A process whose first write is delayed until another action is done. */
  private LockStore beforeFirstWrite(Runnable doing) {
    AtomicInteger writes = new AtomicInteger();
    Predicate<String> first =
        key -> {
          if (writes.incrementAndGet() == 1) {
            doing.run();
          }
          return false;
        };
    return ToyStore.open(new ContendedDocuments(server, threads, first, key -> Loss.NOTHING));
  }

  @Test
  void givenProcessesThatContend_thenOneHoldsAtATime_andTokensRise() throws Exception {
    AtomicInteger holding = new AtomicInteger();
    List<Long> tokens = new ArrayList<>();
    List<Future<Integer>> processes = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      SessionDriver session = SessionDriver.open(ToyStore.open(server), TTL, "process" + i);
      processes.add(threads.submit(cycles(session, holding, tokens)));
    }
    for (Future<Integer> process : processes) {
      assertThat(process.get(60, TimeUnit.SECONDS)).isZero();
    }
    assertThat(tokens).hasSize(3 * 300).isSorted().doesNotHaveDuplicates();
  }

  private static Callable<Integer> cycles(
      SessionDriver session, AtomicInteger holding, List<Long> tokens) {
    return () -> {
      int together = 0;
      for (int cycle = 0; cycle < 300; cycle++) {
        AttemptId attempt = session.attempt();
        Reply reply = session.enqueue(LOCK, attempt, EX);
        while (!(reply instanceof Reply.Granted)) {
          reply = session.enqueue(LOCK, attempt, EX);
        }
        together += holding.getAndIncrement();
        tokens.add(((Reply.Granted) reply).token());
        holding.decrementAndGet();
        session.end(LOCK, attempt);
      }
      return together;
    };
  }

  @Test
  void givenClosedSession_whenItsFirstRenewalArrivesLate_thenItIsNotRevived() {
    LockStore store = ToyStore.open(server);
    SessionDriver a = SessionDriver.open(store, TTL, "a");
    SessionDriver late = a.twin(store);
    a.close();
    assertThat(late.renew(0, 5, List.of())).isInstanceOf(Renewal.Lost.class);
    assertThat(BoundedWait.join(store.judge(a.id())))
        .isInstanceOf(SessionVerdict.SessionEnded.class);
  }

  @Test
  void givenDeadSessionAndIdleLock_whenSweptMuchLater_thenNoDocumentIsLeft() {
    LockStore store = ToyStore.open(server);
    SessionDriver a = SessionDriver.open(store, TTL, "a");
    a.hold(LOCK, EX);
    time.advance(TTL);
    BoundedWait.join(store.sweep(10));
    assertThat(keys("session/")).hasSize(1);
    assertThat(view(store, LOCK)).isEmpty();
    for (int sweeps = 0; sweeps < 3; sweeps++) {
      time.advance(Duration.ofMinutes(10));
      BoundedWait.join(store.sweep(10));
    }
    assertThat(keys("")).isEmpty();
  }

  private List<String> keys(String prefix) {
    return BoundedWait.join(server.scan(prefix, "", 1000));
  }

  /** A comparison that never succeeds is a fault of the adapter, not a reason to retry for ever. */
  @Test
  void givenDocumentsThatAlwaysChange_thenTheRequestFails() {
    Predicate<String> locks = key -> key.startsWith("lock/");
    LockStore store =
        ToyStore.open(new ContendedDocuments(server, threads, locks, key -> Loss.NOTHING));
    SessionDriver a = SessionDriver.open(store, TTL, "a");
    AttemptId attempt = a.hold(LOCK, EX).attempt();
    Reply reply = a.ask(new Request.Abandon(LOCK, attempt));
    assertThat(reply).isInstanceOf(Reply.Failed.class);
    assertThat(((Reply.Failed) reply).cause())
        .hasMessageContaining("'lock/lock'")
        .hasMessageContaining("100 times");
  }

  @Test
  void givenOtherCapabilities_thenTheyAreRefused() {
    VersionedDocuments documents = server;
    StoreProfile profile =
        new StoreProfile(
            "odd",
            EnumSet.of(Capability.SESSION),
            Duration.ZERO,
            Duration.ofMillis(1),
            Duration.ZERO);
    assertThatThrownBy(() -> new DocumentStore(profile, documents, documents))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("Store 'odd' declares [SESSION]");
  }
}
