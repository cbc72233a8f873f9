package io.mortise.console.observer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.StoreUnavailableException;
import io.mortise.admin.EndedHold.EndCause;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockQuery;
import io.mortise.console.view.LockFormatter.Condition;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Observation of a store, in time that moves by hand. */
class ObserverTest {
  private final FakeAdmin store = new FakeAdmin();
  private Observer observer = observer(0.5);

  private Observer observer(double share) {
    return new Observer(store, share, () -> store.nanos, store::now);
  }

  /** Lets time pass, with a permanent viewer. */
  private void watch(Duration time) {
    pass(time, true);
  }

  private void pass(Duration time, boolean watched) {
    long end = store.nanos + time.toNanos();
    while (store.nanos < end) {
      if (watched) {
        observer.watched();
      }
      long nap = observer.step();
      store.nanos += Math.min(nap, Duration.ofMillis(200).toNanos());
    }
  }

  private List<String> events() {
    return observer.events().after(0, event -> true, 1000).stream()
        .map(event -> event.kind() + " " + (event.lock() == null ? event.session() : event.lock()))
        .toList();
  }

  private List<String> lockEvents() {
    return observer.events().after(0, event -> event.lock() != null, 1000).stream()
        .map(event -> event.kind() + " " + event.lock() + " " + host(event))
        .toList();
  }

  private String host(ObservedEvent event) {
    SeenSession session = event.session() == null ? null : observer.session(event.session());
    return session == null || session.client() == null ? "-" : session.client().host();
  }

  @Test
  void givenHoldersAtTheStart_thenTheyAreSeen_andAreNoEvents() {
    store.hold("a", 1, 1);
    store.hold("b", 2, 1);
    watch(Duration.ofSeconds(3));
    assertThat(observer.locks()).hasSize(2);
    assertThat(observer.survey().complete()).isTrue();
    assertThat(observer.sessions()).hasSize(2);
    assertThat(lockEvents()).isEmpty();
  }

  @Test
  void givenGrantHandOverAndRelease_thenEachIsToldOnce() {
    watch(Duration.ofSeconds(3));
    store.hold("a", 1, 1);
    watch(Duration.ofSeconds(5));
    store.await("a", 2, 1);
    watch(Duration.ofSeconds(5));
    store.release("a");
    watch(Duration.ofSeconds(5));
    store.release("a");
    watch(Duration.ofSeconds(5));
    assertThat(lockEvents())
        .containsExactly(
            "granted a host-1",
            "waiting a host-2",
            "released a host-1",
            "granted a host-2",
            "released a host-2");
    assertThat(observer.locks()).isEmpty();
    ObservedEvent granted = observer.events().after(0, event -> event.lock() != null, 1).get(0);
    assertThat(granted.doubt()).isZero();
    assertThat(Duration.between(FakeAdmin.START.plusSeconds(3), granted.at()).abs())
        .isLessThan(Duration.ofMillis(300));
    ObservedEvent released =
        observer.events().after(0, event -> event.kind() == ObservedKind.RELEASED, 1).get(0);
    assertThat(released.doubt()).isBetween(Duration.ofMillis(1), Duration.ofSeconds(3));
    assertThat(released.held()).isBetween(Duration.ofSeconds(9), Duration.ofSeconds(13));
  }

  @Test
  void givenWaiterThatGivesUp_thenThatIsTold() {
    store.hold("a", 1, 1);
    watch(Duration.ofSeconds(3));
    store.await("a", 2, 1);
    watch(Duration.ofSeconds(5));
    store.lock("a").waiters.clear();
    watch(Duration.ofSeconds(5));
    assertThat(lockEvents()).containsExactly("waiting a host-2", "gave_up a host-2");
  }

  @Test
  void givenDeadHolder_thenItsProcessIsOver_andTheLockIsGone_thenLost() {
    store.hold("a", 1, 1);
    watch(Duration.ofSeconds(5));
    store.kill(1);
    watch(Duration.ofSeconds(8));
    assertThat(observer.lock("a")).isNotNull();
    assertThat(observer.lock("a").condition()).isEqualTo(Condition.GONE);
    assertThat(observer.session(FakeAdmin.session(1)).client().host()).isEqualTo("host-1");
    store.end("a", EndCause.SESSION_EXPIRED);
    watch(Duration.ofSeconds(5));
    assertThat(events()).contains("session_over " + FakeAdmin.session(1));
    assertThat(lockEvents()).containsExactly("lost a host-1");
  }

  @Test
  void givenHolderThatDiedBeforeTheStart_thenItsLockIsGone_andThatOfOneThatLivesIsNotLookedAt() {
    store.hold("a", 1, 1);
    store.kill(1);
    store.hold("b", 2, 1);
    watch(Duration.ofSeconds(3));
    assertThat(observer.lock("a").condition()).isEqualTo(Condition.GONE);
    assertThat(observer.lock("b").condition()).isEqualTo(Condition.HELD);
    assertThat(observer.lock("b").full()).isFalse();
  }

  @Test
  void givenSessionThatBeganAfterTheListOfSessions_thenItsLockIsNotLookedAt() {
    SeenLocks locks = new SeenLocks(null);
    store.hold("a", 1, 1);
    Instant granted = store.now();
    store.advance(Duration.ofSeconds(1));
    LockInfo line = store.list(LockQuery.all().summarized().page(null, 1)).items().get(0);
    locks.apply(SeenLock.ofSummary(line, store.now(), store.nanos));
    locks.sawAllSessions(Set.of(), granted.minusSeconds(1), store.now());
    assertThat(locks.hot()).isEmpty();
    locks.sawAllSessions(Set.of(), granted.plusMillis(500), store.now());
    assertThat(locks.hot()).containsExactly("a");
  }

  @Test
  void givenCrashedHolderWhoseLockIsGoneBeforeItsSessionIsMissed_thenItIsLost_notReleased() {
    watch(Duration.ofSeconds(5));
    for (int i = 1; i <= 10; i++) {
      store.hold("a/" + i, i, 1);
      store.leftOf(i, Duration.ofMillis(50));
      watch(Duration.ofMillis(4000 + 397 * i));
      store.kill(i);
      store.end("a/" + i, EndCause.SESSION_EXPIRED);
      watch(Duration.ofSeconds(9));
      assertThat(lockEvents()).contains("lost a/" + i + " host-" + i);
    }
    assertThat(lockEvents()).noneMatch(event -> event.startsWith("released"));
  }

  /** Like the end of a cron job: without viewers, between two surveys. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void givenHolderThatReleasesAndCloses_thenItsHoldIsReleased_andNotLost(boolean watched) {
    pass(Duration.ofSeconds(3), watched);
    for (int i = 1; i <= 10; i++) {
      store.hold("job", i, 1);
      pass(Duration.ofSeconds(70), watched);
      store.release("job");
      store.kill(i);
      pass(Duration.ofMillis(63_000 + 397 * i), watched);
    }
    assertThat(lockEvents().stream().filter(event -> event.startsWith("released"))).hasSize(10);
    assertThat(lockEvents()).noneMatch(event -> event.matches("(lost|ended|evicted) .*"));
  }

  @Test
  void givenHoldersThatEndedBetweenTwoLooks_thenOnlyTheLastIsExplained_andNoneIsLost() {
    pass(Duration.ofSeconds(3), false);
    store.hold("a", 1, 1);
    pass(Duration.ofSeconds(62), false);
    store.release("a");
    store.kill(1);
    store.hold("a", 2, 1);
    store.release("a");
    pass(Duration.ofSeconds(63), false);
    assertThat(lockEvents()).containsExactly("granted a host-1", "ended a host-1");
    assertThat(observer.events().latest(event -> event.lock() != null, 1).get(0).text())
        .isEqualTo("not seen how");
  }

  @ParameterizedTest
  @EnumSource(EndCause.class)
  void givenNobodyWhoWatches_whenAHoldEnds_thenTheRecordTellsHow(EndCause cause) {
    pass(Duration.ofSeconds(3), false);
    store.hold("a", 1, 1);
    pass(Duration.ofSeconds(62), false);
    store.end("a", cause);
    pass(Duration.ofSeconds(63), false);
    String told =
        switch (cause) {
          case RELEASED -> "released a host-1";
          case EVICTED -> "evicted a host-1";
          case AT_MOST, SESSION_EXPIRED -> "lost a host-1";
        };
    assertThat(lockEvents()).containsExactly("granted a host-1", told);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void givenStoreThatKeepsNoEnds_thenAHoldHasEnded_andNobodyKnowsHow(boolean watched) {
    store.keepsEnds = false;
    pass(Duration.ofSeconds(3), watched);
    store.hold("a", 1, 1);
    pass(Duration.ofSeconds(62), watched);
    store.release("a");
    store.kill(1);
    pass(Duration.ofSeconds(63), watched);
    assertThat(lockEvents()).containsExactly("granted a host-1", "ended a host-1");
  }

  @Test
  void givenLockSeenBeforeItsProcessWasOver_thenItsHolderIsNotTakenForGone() {
    store.hold("a", 1, 1);
    pass(Duration.ofSeconds(3), false);
    SeenLock seen = observer.lock("a");
    store.release("a");
    store.kill(1);
    while (!observer.session(FakeAdmin.session(1)).over()) {
      pass(Duration.ofMillis(200), false);
    }
    Trouble.Finder finder = new Trouble.Finder(observer);
    assertThat(finder.condition(seen)).isEqualTo(Condition.HELD);
  }

  @Test
  void givenStoreThatStoodStillForALook_thenTheNextOnesAreSoon() {
    observer = observer(0.01);
    watch(Duration.ofSeconds(60));
    store.cost = Duration.ofSeconds(4);
    int before = store.surveys;
    observer.watched();
    while (store.surveys == before) {
      store.nanos += Math.max(1, observer.step());
    }
    store.cost = Duration.ofMillis(1);
    watch(Duration.ofSeconds(10));
    assertThat(store.surveys - before).isGreaterThan(2);
    assertThat(observer.cost().time()).isGreaterThan(Duration.ofSeconds(4));
    assertThat(observer.cost().share()).isLessThan(0.012);
  }

  @Test
  void givenErrorOfADriver_thenTheStoreIsLookedAtAgain() {
    watch(Duration.ofSeconds(3));
    store.error = new NoClassDefFoundError("for a test");
    while (store.error != null) {
      watch(Duration.ofMillis(200));
    }
    assertThat(observer.outage()).isNotNull();
    store.hold("a", 1, 1);
    watch(Duration.ofSeconds(10));
    assertThat(observer.outage()).isNull();
    assertThat(observer.lock("a")).isNotNull();
  }

  @Test
  void givenStoreThatIsSlowAllTheTime_thenLookingIsPutOff_andThatIsTold() {
    observer = observer(0.01);
    store.cost = Duration.ofSeconds(1);
    watch(Duration.ofSeconds(5));
    assertThat(observer.cost().putOff()).isGreaterThan(Duration.ofSeconds(30));
  }

  @Test
  void givenStoreWithoutSessions_thenTheRestGoesOn() {
    store.listsSessions = false;
    store.hold("a", 1, 1);
    watch(Duration.ofSeconds(3));
    store.release("a");
    watch(Duration.ofSeconds(3));
    assertThat(lockEvents()).hasSize(1);
  }

  @Test
  void givenShutLock_thenShutAndOpenedAreTold() {
    watch(Duration.ofSeconds(3));
    store.lock("a").shutFor = Duration.ofSeconds(30);
    watch(Duration.ofSeconds(5));
    store.locks.remove("a");
    watch(Duration.ofSeconds(5));
    assertThat(lockEvents()).containsExactly("shut a -", "opened a -");
  }

  @Test
  void givenLocksThatWaitForEachOther_thenACycleIsToldSoon_butNotAtFirstSight() {
    watch(Duration.ofSeconds(3));
    store.hold("a", 1, 1);
    store.hold("b", 2, 1);
    store.await("a", 2, 2);
    store.await("b", 1, 2);
    watch(Duration.ofMillis(2500));
    assertThat(observer.cycles()).isEmpty();
    watch(Duration.ofMillis(3500));
    assertThat(observer.cycles())
        .singleElement()
        .satisfies(cycle -> assertThat(cycle.locks()).containsExactly("a", "b"));
    store.lock("b").waiters.clear();
    watch(Duration.ofSeconds(3));
    assertThat(observer.cycles()).isEmpty();
  }

  @Test
  void givenDeadlockAmongManyWaitedLocks_thenItIsToldForAsLongAsItLasts() {
    observer = observer(0.01);
    store.cost = Duration.ofMillis(1);
    store.hold("a", 1, 1);
    store.hold("b", 2, 1);
    store.await("a", 2, 2);
    store.await("b", 1, 2);
    watch(Duration.ofSeconds(8));
    assertThat(observer.cycles()).hasSize(1);
    for (int i = 0; i < 400; i++) {
      store.hold("lock/" + i, 3, i + 1);
      store.await("lock/" + i, 4, i + 1);
    }
    for (int i = 0; i < 60; i++) {
      watch(Duration.ofSeconds(1));
      assertThat(observer.cycles()).as("after %d s", i).hasSize(1);
    }
    store.lock("b").waiters.clear();
    watch(Duration.ofSeconds(20));
    assertThat(observer.cycles()).isEmpty();
  }

  @Test
  void givenCyclesOfOtherWaitsEachTime_thenNoneIsTold() {
    store.hold("a", 1, 1);
    store.hold("b", 2, 1);
    for (int i = 2; i < 20; i++) {
      store.lock("a").waiters.clear();
      store.lock("b").waiters.clear();
      store.await("a", 2, i);
      store.await("b", 1, i);
      watch(Duration.ofMillis(1500));
      assertThat(observer.cycles()).isEmpty();
    }
  }

  @Test
  void givenSilentStore_thenThereIsAnOutage_asksOnceInFiveSeconds_andTheGapIsTold() {
    store.hold("a", 1, 1);
    watch(Duration.ofSeconds(3));
    store.silent = true;
    int before = store.surveys + store.finds;
    watch(Duration.ofMinutes(3));
    assertThat(store.surveys + store.finds - before).isBetween(12, 40);
    assertThat(observer.outage()).isNotNull();
    assertThat(observer.outage().message()).doesNotContain("secret");
    assertThat(observer.locks()).hasSize(1);
    store.release("a");
    store.silent = false;
    watch(Duration.ofSeconds(40));
    assertThat(observer.outage()).isNull();
    assertThat(observer.gaps()).hasSize(1);
    assertThat(events()).contains("gap null", "released a");
    ObservedEvent released =
        observer.events().after(0, event -> event.kind() == ObservedKind.RELEASED, 1).get(0);
    assertThat(released.doubt()).isGreaterThan(Duration.ofMinutes(3));
  }

  @Test
  void givenStoreThatStoodStill_whenItGoesOn_thenItIsSeenWithinSeconds() {
    store.hold("a", 1, 1);
    watch(Duration.ofSeconds(3));
    store.silent = true;
    store.cost = Duration.ofSeconds(5);
    Instant silent = store.now();
    watch(Duration.ofSeconds(30));
    assertThat(observer.outage()).isNotNull();
    assertThat(observer.outage().since()).isBefore(silent.plusSeconds(4));
    store.silent = false;
    store.cost = Duration.ofMillis(1);
    watch(Duration.ofSeconds(12));
    assertThat(observer.outage()).isNull();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 10, 100})
  void givenCostOfAPage_thenTheBudgetIsKept(int millis) {
    observer = observer(0.01);
    store.cost = Duration.ofMillis(millis);
    store.pageSize = 50;
    for (int i = 0; i < 2000; i++) {
      store.hold("lock/" + i, 1, i + 1);
      store.await("lock/" + i, 2, i + 1);
    }
    watch(Duration.ofMinutes(2));
    Duration allowed = Duration.ofMillis(1200 + 300 + 2L * millis);
    assertThat(store.spent).isLessThanOrEqualTo(allowed);
    assertThat(store.spent).isGreaterThan(Duration.ofMillis(1200));
    assertThat(observer.cost().share()).isBetween(0.005, 0.012);
    assertThat(store.finds).isPositive();
    assertThat(store.surveys).isGreaterThan(1);
  }

  @Test
  void givenNobodyWhoWatches_thenOneSurveyAMinute() {
    store.hold("a", 1, 1);
    store.await("a", 2, 1);
    pass(Duration.ofMinutes(1), false);
    int before = store.surveys;
    int looks = store.finds;
    pass(Duration.ofMinutes(10), false);
    assertThat(store.surveys - before).isBetween(9, 11);
    assertThat(store.finds - looks).isZero();
    watch(Duration.ofSeconds(10));
    assertThat(store.finds - looks).isBetween(3, 7);
  }

  @Test
  void givenLockOnAScreen_thenItIsLookedAt_untilItIsClosed() {
    store.hold("calm", 1, 1);
    watch(Duration.ofSeconds(3));
    assertThat(store.finds).isZero();
    observer.watched("calm");
    watch(Duration.ofSeconds(9));
    assertThat(store.finds).isBetween(3, 6);
    watch(Duration.ofSeconds(5));
    int after = store.finds;
    watch(Duration.ofSeconds(20));
    assertThat(store.finds).isEqualTo(after);
  }

  @Test
  void givenUsualHolds_thenAMuchLongerOneIsLong() {
    watch(Duration.ofSeconds(3));
    for (int i = 0; i < 12; i++) {
      store.hold("job/" + i, 1, i + 1);
      watch(Duration.ofSeconds(6));
      store.release("job/" + i);
      watch(Duration.ofSeconds(3));
    }
    assertThat(observer.usual("job/x")).isBetween(Duration.ofSeconds(4), Duration.ofSeconds(9));
    assertThat(observer.usual("other")).isNull();
    store.hold("job/x", 1, 99);
    watch(Duration.ofSeconds(10));
    assertThat(observer.isLong(observer.lock("job/x"))).isFalse();
    watch(Duration.ofSeconds(30));
    assertThat(observer.isLong(observer.lock("job/x"))).isTrue();
  }

  @Test
  void givenOlderLook_thenTheNewerStays() {
    store.hold("a", 1, 1);
    SeenLock older = observer.look("a");
    store.release("a");
    store.hold("a", 2, 1);
    SeenLock newer = observer.look("a");
    SeenLocks locks = new SeenLocks(null);
    locks.apply(newer);
    assertThat(locks.apply(older)).isSameAs(newer);
    assertThat(locks.get("a")).isSameAs(newer);
  }

  @Test
  void givenMoreLocksThanAreKept_thenOneThatIsOpenOnAScreenIsKept_andAnotherIsNot() {
    SeenLocks locks = new SeenLocks(null);
    store.hold("a", 1, 1);
    store.hold("b", 1, 2);
    SeenLock a = observer.look("a");
    SeenLock b = observer.look("b");
    for (int i = 0; i < SeenLocks.KEPT; i++) {
      locks.apply(renamed(a, "other/" + i));
    }
    locks.apply(a);
    locks.apply(b, true);
    assertThat(locks.get("a")).isNull();
    assertThat(locks.get("b")).isSameAs(b);
  }

  private static SeenLock renamed(SeenLock lock, String name) {
    LockInfo info = lock.info();
    return SeenLock.of(
        new LockInfo(
            name,
            info.permits(),
            info.lastToken(),
            info.shutFor(),
            info.holders(),
            info.waiters(),
            0,
            0,
            null),
        lock.at(),
        lock.nanos());
  }

  @Test
  void givenLooksThatShowTheSame_thenThereIsNoNews_untilSomethingChanges() {
    store.hold("a", 1, 1);
    store.await("a", 2, 1);
    observer.look("a");
    observer.look("never");
    long version = observer.version();
    for (int i = 0; i < 10; i++) {
      store.advance(Duration.ofMillis(300));
      store.leftOf(1, Duration.ofSeconds(13).minusMillis(300L * (i + 1)));
      store.leftOf(2, Duration.ofSeconds(13).minusMillis(300L * (i + 1)));
      observer.look("a");
      observer.look("never");
    }
    assertThat(observer.version()).isEqualTo(version);
    store.leftOf(1, Duration.ofSeconds(13));
    observer.look("a");
    assertThat(observer.version()).as("a renewal").isGreaterThan(version);
    version = observer.version();
    store.await("a", 2, 2);
    observer.look("a");
    assertThat(observer.version()).as("another waiter").isGreaterThan(version);
    version = observer.version();
    store.release("a");
    observer.look("a");
    assertThat(observer.version()).as("another holder").isGreaterThan(version);
  }

  @Test
  void givenManyOutages_thenTheLastGapsAreKept() {
    Outages outages = new Outages();
    for (int i = 0; i < 3 * Outages.KEPT; i++) {
      Instant at = FakeAdmin.START.plusSeconds(10L * i);
      outages.failed(new IllegalStateException("x"), at);
      assertThat(outages.answered(at.plusSeconds(5))).isNotNull();
      assertThat(outages.answered(at.plusSeconds(6))).isNull();
    }
    assertThat(outages.gaps()).hasSize(Outages.KEPT);
    assertThat(outages.gaps().get(Outages.KEPT - 1).from())
        .isEqualTo(FakeAdmin.START.plusSeconds(10L * (3 * Outages.KEPT - 1)));
  }

  @Test
  void givenLockThatManyPagesHaveOpen_thenTheStoreIsAskedOnceInAWhile() {
    store.hold("a", 1, 1);
    for (int i = 0; i < 10; i++) {
      assertThat(observer.recent("a").condition()).isEqualTo(Condition.HELD);
      assertThat(observer.recent("free").condition()).isEqualTo(Condition.FREE);
      store.advance(Duration.ofMillis(100));
    }
    assertThat(store.finds).isEqualTo(2);
    store.release("a");
    store.advance(Duration.ofSeconds(1));
    assertThat(observer.recent("a").condition()).isEqualTo(Condition.FREE);
  }

  @Test
  void givenLooksOnDemandWithoutEnd_thenSurveysGoOn() {
    observer = observer(0.01);
    store.cost = Duration.ofMillis(50);
    store.hold("a", 1, 1);
    watch(Duration.ofSeconds(30));
    int before = store.surveys;
    for (int i = 0; i < 600; i++) {
      observer.look("a");
      watch(Duration.ofMillis(500));
    }
    assertThat(store.surveys - before).isGreaterThanOrEqualTo(10);
  }

  @Test
  void givenManySearchesForOneName_thenTheStoreIsAskedOnceInTwoSeconds() {
    for (int i = 0; i < 10; i++) {
      assertThat(observer.search("a").condition()).isEqualTo(Condition.FREE);
      store.advance(Duration.ofMillis(100));
    }
    assertThat(store.finds).isEqualTo(1);
    store.hold("a", 1, 1);
    store.advance(Duration.ofSeconds(1));
    assertThat(observer.search("a").condition()).isEqualTo(Condition.HELD);
    assertThat(observer.search("a").condition()).isEqualTo(Condition.HELD);
    assertThat(store.finds).isEqualTo(2);
    assertThat(observer.search("b").condition()).isEqualTo(Condition.FREE);
    assertThat(store.finds).isEqualTo(3);
  }

  @Test
  void givenLookThatFailed_whenTheLockIsLookedAtAgain_thenItIsNotTakenForFree() {
    store.hold("a", 1, 1);
    store.silent = true;
    for (int i = 0; i < 3; i++) {
      assertThatThrownBy(() -> observer.recent("a")).isInstanceOf(StoreUnavailableException.class);
    }
    store.silent = false;
    assertThat(observer.recent("a").condition()).isEqualTo(Condition.HELD);
  }
}
