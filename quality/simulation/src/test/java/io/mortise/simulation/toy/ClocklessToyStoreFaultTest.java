package io.mortise.simulation.toy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.LockName;
import io.mortise.admin.LockParticipant;
import io.mortise.admin.LockQuery;
import io.mortise.admin.SessionInfo;
import io.mortise.simulation.toy.ContendedDocuments.Loss;
import io.mortise.spi.AttemptId;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionVerdict;
import io.mortise.spi.StoreProfile;
import io.mortise.support.document.DocumentStore;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.ManualTime;
import io.mortise.testkit.SessionDriver;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * A clockless server, which may execute writes long after they were given up, without a bound.
 * Sessions end by observation.
 */
class ClocklessToyStoreFaultTest {
  private static final LockName LOCK = LockName.of("lock");
  private static final Duration TTL = Duration.ofMinutes(5);
  private static final Mode EX = Mode.EXCLUSIVE;

  /** More than a TTL: clocks of owner and observer may run at different rates. */
  private static final Duration WHOLE = TTL.plusSeconds(1);

  private final ExecutorService threads = Executors.newFixedThreadPool(2);
  private final ManualTime time = new ManualTime();
  private final ClocklessToyDocuments server = new ClocklessToyDocuments();

  /** The fault of the next write to a key with the given prefix. */
  private final AtomicReference<String> late = new AtomicReference<>("none");

  private final ContendedDocuments lossy =
      new ContendedDocuments(server, threads, key -> false, this::loss);

  private final LockStore store = ClocklessToyStoreUnderTest.open(server, time);
  private final LockStore losing = ClocklessToyStoreUnderTest.open(lossy, time);

  private Loss loss(String key) {
    return key.startsWith(late.get()) && late.getAndSet("none") != null ? Loss.LATE : Loss.NOTHING;
  }

  @AfterEach
  void endThreads() {
    threads.shutdownNow();
  }

  private SessionVerdict judge(LockStore by, SessionDriver session) {
    return BoundedWait.join(by.judge(session.id()));
  }

  private List<AttemptId> holders() {
    return BoundedWait.join(store.inspect(LockQuery.of(LOCK.value()))).items().stream()
        .flatMap(lock -> lock.holders().stream())
        .map(holder -> AttemptId.parse(holder.attempt()))
        .toList();
  }

  private void acquireLate(SessionDriver session, AttemptId attempt) {
    late.set("lock/");
    assertThat(session.acquire(LOCK, attempt, EX)).isInstanceOf(Reply.Failed.class);
  }

  @Test
  void givenAcquireThatIsWrittenAfterItsEnd_thenItIsNeverGranted() {
    SessionDriver a = SessionDriver.open(losing, TTL, "a");
    SessionDriver b = SessionDriver.open(store, TTL, "b");
    for (int cycle = 0; cycle < 3; cycle++) {
      // At first there is no record, then one left by abandons, then one that was used.
      AttemptId given = a.attempt();
      acquireLate(a, given);
      assertThat(a.ask(new Request.Abandon(LOCK, given))).isInstanceOf(Reply.Ended.class);
      lossy.landLateWrites();
      assertThat(holders()).isEmpty();
      if (cycle == 1) {
        b.end(LOCK, b.hold(LOCK, EX).attempt());
      }
    }
  }

  @Test
  void givenRecordThatWasMadeAndRemovedMeanwhile_whenAnAcquireIsWrittenLate_thenItIsNotGranted() {
    SessionDriver a = SessionDriver.open(losing, TTL, "a");
    AttemptId given = a.attempt();
    acquireLate(a, given);
    a.ask(new Request.Abandon(LOCK, given));
    BoundedWait.join(store.sweep(100));
    assertThat(BoundedWait.join(server.scan("lock/", "", 10))).isEmpty();
    lossy.landLateWrites();
    assertThat(BoundedWait.join(server.scan("lock/", "", 10))).isEmpty();
  }

  /** The control of the two above: without the end, the late acquire is written. */
  @Test
  void givenAcquireThatIsWrittenLate_whenItWasNotEnded_thenItIsGranted() {
    SessionDriver a = SessionDriver.open(losing, TTL, "a");
    AttemptId given = a.attempt();
    acquireLate(a, given);
    lossy.landLateWrites();
    assertThat(holders()).containsExactly(given);
  }

  @Test
  void givenSession_thenItEndsATtlAfterItWasFirstSeen_andNotByItsAge() {
    SessionDriver a = SessionDriver.open(store, TTL, "a");
    LockStore other = ClocklessToyStoreUnderTest.open(server, time);
    time.advance(TTL.multipliedBy(10));
    assertThat(judge(other, a)).isInstanceOf(SessionVerdict.Alive.class);
    time.advance(TTL.minusSeconds(1));
    assertThat(judge(other, a)).isInstanceOf(SessionVerdict.Alive.class);
    time.advance(Duration.ofSeconds(2));
    assertThat(judge(other, a)).isInstanceOf(SessionVerdict.SessionEnded.class);
    assertThat(a.renew()).isInstanceOf(Renewal.Lost.class);
  }

  /** Its owner counts from the time of the last one sent. */
  @Test
  void givenRenewalThatIsSentAgainWithTheSameBeat_thenAnObserverCountsFromTheLast() {
    SessionDriver a = SessionDriver.open(store, TTL, "a");
    long beat = a.beat();
    assertThat(a.renew(beat, beat + 5, List.of())).isInstanceOf(Renewal.Renewed.class);
    LockStore other = ClocklessToyStoreUnderTest.open(server, time);
    assertThat(judge(other, a)).isInstanceOf(SessionVerdict.Alive.class);
    time.advance(TTL.minusSeconds(1));
    assertThat(a.renew(beat, beat + 5, List.of())).isInstanceOf(Renewal.Renewed.class);
    time.advance(Duration.ofSeconds(10));
    assertThat(judge(other, a)).isInstanceOf(SessionVerdict.Alive.class);
    time.advance(WHOLE);
    assertThat(judge(other, a)).isInstanceOf(SessionVerdict.SessionEnded.class);
  }

  /** Its first renewal was not answered, and a host with a fast clock has swept it. */
  @Test
  void givenSessionThatIsMadeAnew_whenAnObserverHasSeenTheOneBefore_thenItLivesForATtl() {
    SessionDriver a = SessionDriver.open(store, TTL, "a");
    LockStore other = ClocklessToyStoreUnderTest.open(server, time);
    assertThat(judge(other, a)).isInstanceOf(SessionVerdict.Alive.class);
    time.advance(WHOLE);
    String key = "session/" + a.id();
    BoundedWait.join(server.compareAndSet(key, BoundedWait.join(server.read(key)), null));
    assertThat(a.renew(0, a.beat(), List.of())).isInstanceOf(Renewal.Renewed.class);
    assertThat(judge(other, a)).isInstanceOf(SessionVerdict.Alive.class);
    time.advance(WHOLE);
    assertThat(judge(other, a)).isInstanceOf(SessionVerdict.SessionEnded.class);
  }

  @Test
  void givenEndOfASessionThatIsWrittenLate_whenItWasRenewedMeanwhile_thenItLives() {
    SessionDriver a = SessionDriver.open(store, TTL, "a");
    AttemptId held = a.hold(LOCK, EX).attempt();
    assertThat(judge(losing, a)).isInstanceOf(SessionVerdict.Alive.class);
    time.advance(WHOLE);
    late.set("session/");
    assertThatThrownBy(() -> judge(losing, a)).hasMessageContaining("no answer");
    // Its own store knows by then that it is over; a renewal in flight does not.
    SessionDriver onTheWay = a.twin(ClocklessToyStoreUnderTest.open(server, time));
    assertThat(onTheWay.renew()).isInstanceOf(Renewal.Renewed.class);
    lossy.landLateWrites();
    assertThat(onTheWay.renew()).isInstanceOf(Renewal.Renewed.class);
    assertThat(onTheWay.acquire(LOCK, held, EX)).isInstanceOf(Reply.Granted.class);
  }

  @Test
  void givenDeadHolder_whenItsSessionIsSweptTwice_thenItsLockIsFree_andTheLivingKeepTheirs() {
    SessionDriver dead = SessionDriver.open(store, TTL, "dead");
    SessionDriver living = SessionDriver.open(store, TTL, "living");
    dead.hold(LOCK, EX);
    AttemptId kept = living.hold(LockName.of("kept"), EX).attempt();
    LockStore sweeping = ClocklessToyStoreUnderTest.open(server, time);
    BoundedWait.join(sweeping.sweep(100));
    assertThat(holders()).hasSize(1);
    for (int half = 0; half < 2; half++) {
      time.advance(WHOLE.dividedBy(2));
      assertThat(living.renew()).isInstanceOf(Renewal.Renewed.class);
    }
    BoundedWait.join(sweeping.sweep(100));
    assertThat(holders()).isEmpty();
    assertThat(living.acquire(LockName.of("kept"), kept, EX)).isInstanceOf(Reply.Granted.class);
  }

  private LockParticipant holder(LockStore by) {
    return BoundedWait.join(by.inspect(LockQuery.of(LOCK.value()))).items().get(0).holders().get(0);
  }

  /** No observer has judged it, but its last renewal is older than the TTL. */
  @Test
  void givenDeadHolder_thenAFirstLookTellsItsLastRenewal_andALookATtlLaterThatItIsOver() {
    SessionDriver a = SessionDriver.open(store, TTL, "a");
    a.hold(LOCK, EX);
    LockStore other = ClocklessToyStoreUnderTest.open(server, time);
    assertThat(holder(other).renewedAgo()).isZero();
    time.advance(TTL.multipliedBy(3));
    LockStore first = ClocklessToyStoreUnderTest.open(server, time);
    LockParticipant unjudged = holder(first);
    assertThat(unjudged.renewedAgo()).isEqualTo(TTL.multipliedBy(3));
    assertThat(unjudged.sessionLeft()).isPositive();
    assertThat(BoundedWait.join(first.sessions(null, 1)).items())
        .extracting(SessionInfo::renewedAgo)
        .containsExactly(TTL.multipliedBy(3));
    assertThat(holder(other).sessionLeft()).isZero();
    assertThat(holder(other).renewedAgo()).isNull();
    assertThat(holder(other).client()).isNotNull();
    // Its own store knows that it is over; inspection by others changes nothing.
    SessionDriver onTheWay = a.twin(ClocklessToyStoreUnderTest.open(server, time));
    assertThat(onTheWay.renew()).isInstanceOf(Renewal.Renewed.class);
    assertThat(holder(other).sessionLeft()).isPositive();
  }

  @Test
  void givenDeadHolder_whenAProcessAsksTwiceWithoutAWait_thenTheFirstLeavesAMarkForTheSecond() {
    SessionDriver.open(store, TTL, "dead").hold(LOCK, EX);
    LockStore trying = ClocklessToyStoreUnderTest.open(server, time);
    SessionDriver b = SessionDriver.open(trying, TTL.multipliedBy(3), "b");
    assertThat(b.acquire(LOCK, b.attempt(), EX)).isInstanceOf(Reply.Busy.class);
    time.advance(WHOLE);
    Reply.Busy busy = (Reply.Busy) b.acquire(LOCK, b.attempt(), EX);
    SessionId dead = busy.holder().attempt().session();
    assertThat(busy.holder().sessionLeft()).isZero();
    assertThat(b.take(LOCK, b.attempt(), EX, false, dead)).isInstanceOf(Reply.Granted.class);
  }

  @Test
  void givenCapabilitiesThatNeedAClock_thenTheyAreRefused() {
    StoreProfile profile =
        new StoreProfile(
            "odd", DocumentStore.CAPABILITIES, Duration.ZERO, Duration.ofMillis(1), Duration.ZERO);
    assertThatThrownBy(() -> DocumentStore.clockless(profile, server, server, time, Instant::now))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("Store 'odd' declares");
  }
}
