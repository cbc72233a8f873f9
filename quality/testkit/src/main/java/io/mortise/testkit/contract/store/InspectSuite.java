package io.mortise.testkit.contract.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.admin.EndedHold;
import io.mortise.admin.EndedHold.EndCause;
import io.mortise.admin.Eviction;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.admin.LockParticipant.ClientInfo;
import io.mortise.admin.LockParticipant.Share;
import io.mortise.admin.LockQuery;
import io.mortise.admin.Page;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.SessionDriver;
import io.mortise.testkit.StoreUnderTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * Inspection shows holders and waiters in order without side effects; sweeping harms no session.
 */
class InspectSuite extends StoreSuite {
  InspectSuite(StoreUnderTest under) {
    super(under);
  }

  private static final Share EXCLUSIVE = Mode.share(Mode.SHARERS, Mode.SHARERS);

  @Test
  void givenUnknownLock_thenThereIsNothingToSee() {
    assertThat(look(LOCK)).isEmpty();
    needsList();
    Page<LockInfo> page = BoundedWait.join(store().inspect(LockQuery.all()));
    assertThat(page.items()).isEmpty();
    assertThat(page.next()).isNull();
  }

  @Test
  void givenHolder_thenWhoItIsAndSinceWhenIsShown_alsoOfALockThatWasHeldBefore() {
    needs(Capability.SESSION);
    for (String each : List.of("é", "the \"client\" ü")) {
      SessionDriver a = session(each);
      Reply.Granted hold = a.hold(LOCK, EX, new HoldTerms(null, null, "nightly report — " + each));
      under.pass(Duration.ofMillis(20));
      LockInfo view = look(LOCK).orElseThrow();
      assertThat(view.name()).isEqualTo(LOCK.value());
      assertThat(view.permits()).isEmpty();
      assertThat(view.shutFor()).isZero();
      assertThat(view.waiters()).isEmpty();
      LockParticipant holder = view.holders().get(0);
      assertThat(view.holders()).hasSize(1);
      assertThat(holder.attempt()).isEqualTo(hold.attempt().encoded());
      assertThat(client(holder).host()).isEqualTo("testhost");
      assertThat(client(holder).pid()).isEqualTo(4711);
      assertThat(client(holder).name()).isEqualTo(each);
      assertThat(holder.label()).isEqualTo("nightly report — " + each);
      assertThat(holder.share()).isEqualTo(EXCLUSIVE);
      assertThat(holder.since()).isBetween(Duration.ofMillis(15), Duration.ofSeconds(30));
      assertThat(holder.sessionLeft()).isBetween(Duration.ofMinutes(4), LONG);
      assertThat(holder.sessionTtl()).isIn(LONG, Duration.ZERO);
      assertThat(holder.atMostLeft()).isNull();
      if (under.capabilities().contains(Capability.TOKEN)) {
        assertThat(holder.token()).isEqualTo(hold.token());
        assertThat(view.lastToken()).isEqualTo(hold.token() + hold.tokens() - 1);
      }
      a.end(LOCK, hold.attempt());
    }
  }

  @Test
  void givenWaiters_thenTheyAreShownInOrderWithTheirLabels() {
    needs(Capability.QUEUE);
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    a.hold(LOCK, EX);
    List<AttemptId> attempts = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      AttemptId attempt = b.attempt();
      attempts.add(attempt);
      queued(b.ask(timed(LOCK, attempt, true, new HoldTerms(null, null, "w" + i))));
    }
    LockInfo view = look(LOCK).orElseThrow();
    List<LockParticipant> waiters = view.waiters();
    assertThat(view.waiterCount()).isEqualTo(4);
    assertThat(waiters)
        .extracting(LockParticipant::attempt)
        .containsExactlyElementsOf(attempts.stream().map(AttemptId::encoded).toList());
    assertThat(waiters).extracting(LockParticipant::label).containsExactly("w0", "w1", "w2", "w3");
    assertThat(waiters)
        .allSatisfy(
            waiter -> {
              assertThat(client(waiter).name()).isEqualTo("b");
              assertThat(waiter.token()).isZero();
              assertThat(waiter.share()).isEqualTo(EXCLUSIVE);
              assertThat(waiter.sessionLeft()).isPositive();
            });
  }

  @Test
  void givenReaders_thenTheyAreShownInTheOrderInWhichTheyWereGranted() {
    needs(Capability.SHARED);
    SessionDriver a = session("a");
    List<AttemptId> attempts = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      attempts.add(a.hold(LOCK, SH).attempt());
    }
    assertThat(holders(LOCK)).containsExactlyElementsOf(attempts);
    assertThat(look(LOCK).orElseThrow().holders())
        .extracting(LockParticipant::share)
        .containsOnly(Mode.share(1, Mode.SHARERS));
  }

  @Test
  void givenDeadHolder_whenLookedAt_thenItIsShownAsDead_andStillHolds() {
    needsProofs();
    SessionDriver a = session("a");
    AttemptId attempt = a.hold(LOCK, EX).attempt();
    die(a);
    assertThat(assertShownAsDead(attempt, LONG).sessionLeft()).isZero();
    SessionDriver b = session("b");
    busy(b.acquire(LOCK, b.attempt(), EX));
  }

  @Test
  void givenHolderThatNobodyHasJudged_whenItsSessionIsOver_thenItIsShownWithWhatTheStoreKnows() {
    needsProofs();
    needs(Capability.SESSION);
    SessionDriver a = shortSession("a");
    AttemptId attempt = a.hold(LOCK, EX).attempt();
    outliveSession();
    assertShownAsDead(attempt, shortTtl());
  }

  /**
   * Asserts that a dead participant is shown as such. A store may forget an ended session, but must
   * not show it wrongly. Without a clock a session lives until it is judged.
   */
  private LockParticipant assertShownAsDead(AttemptId attempt, Duration ttl) {
    LockParticipant shown = look(LOCK).orElseThrow().holders().get(0);
    for (LockParticipant holder : List.of(shown, look(LOCK).orElseThrow().holders().get(0))) {
      assertThat(holder.attempt()).isEqualTo(attempt.encoded());
      assertThat(holder.sessionLeft()).isLessThan(Duration.ofMillis(1));
      assertThat(holder.client()).isIn(null, new ClientInfo("testhost", 4711, "a"));
      assertThat(holder.sessionTtl()).isIn(Duration.ZERO, ttl);
    }
    return shown;
  }

  @Test
  void givenHoldsThatEnd_thenTheLastEndIsTold_orNoneByAStoreThatKeepsNone() {
    SessionDriver a = session("a");
    assertLastEnd(a, a.hold(LOCK, EX).attempt(), EndCause.RELEASED);
    AttemptId next = a.hold(LOCK, EX).attempt();
    if (can(Capability.EVICT)) {
      BoundedWait.join(store().evict(LOCK, next, Eviction.BREAK));
      assertLastEnd(a, next, EndCause.EVICTED);
    }
  }

  /** Ends the attempt if necessary. */
  private void assertLastEnd(SessionDriver a, AttemptId attempt, EndCause cause) {
    a.end(LOCK, attempt);
    EndedHold told = look(LOCK).map(LockInfo::lastEnd).orElse(null);
    if (can(Capability.RECORD) && can(Capability.QUEUE)) {
      assertThat(told).isEqualTo(new EndedHold(attempt.encoded(), cause));
    } else {
      assertThat(told).isIn(null, new EndedHold(attempt.encoded(), cause));
    }
  }

  @Test
  void givenManyLocks_thenPagesShowEachHeldOneOnce_andIdleOnesOnlyIfAsked() {
    needsList();
    SessionDriver a = session("a");
    Set<LockName> held = new HashSet<>();
    Set<LockName> all = new HashSet<>();
    for (int i = 0; i < 25; i++) {
      LockName name = LockName.of("page/" + i);
      all.add(name);
      AttemptId attempt = a.hold(name, EX).attempt();
      if (i % 5 == 0) {
        a.end(name, attempt);
      } else {
        held.add(name);
      }
    }
    assertThat(pages(LockQuery.all().page(null, 7))).containsExactlyInAnyOrderElementsOf(held);
    assertThat(pages(LockQuery.all().page(null, 1000))).containsExactlyInAnyOrderElementsOf(held);
    if (can(Capability.SESSION) && records()) {
      assertThat(pages(LockQuery.all().withIdle().page(null, 7)))
          .containsExactlyInAnyOrderElementsOf(all);
    }
  }

  private List<LockName> pages(LockQuery query) {
    List<LockName> names = new ArrayList<>();
    LockQuery next = query;
    for (int page = 0; page < 100; page++) {
      Page<LockInfo> found = BoundedWait.join(store().inspect(next));
      assertThat(found.items()).hasSizeLessThanOrEqualTo(query.limit());
      found.items().forEach(view -> names.add(LockName.of(view.name())));
      String cursor = found.next();
      if (cursor == null) {
        return names;
      }
      next = next.page(cursor, next.limit());
    }
    throw new AssertionError("There is no last page: " + names);
  }

  @Test
  void givenLiveAndDeadHolders_whenSwept_thenOnlyWhatTheDeadLeftIsRemoved() {
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    AttemptId live = a.hold(LOCK, EX).attempt();
    b.hold(OTHER, EX);
    die(b);
    for (int i = 0; i < 50; i++) {
      assertThat(BoundedWait.join(store().sweep(10))).isNotNegative();
    }
    assertThat(holders(LOCK)).containsExactly(live);
    assertThat(holders(OTHER)).isEmpty();
    assertThat(granted(a.acquire(LOCK, live, EX)).attempt()).isEqualTo(live);
    renewed(a.renew());
  }

  @Test
  void givenManyDeadHolders_whenSweptWithABudget_thenEachSweepIsBounded_andAllVanishInTheEnd() {
    SessionDriver a = session("a");
    for (int i = 0; i < 40; i++) {
      a.hold(LockName.of("n" + i), EX);
    }
    die(a);
    for (int sweeps = 0; sweeps < 100; sweeps++) {
      assertThat(BoundedWait.join(store().sweep(8))).isBetween(0, 8);
    }
    assertThat(BoundedWait.join(store().inspect(LockQuery.all())).items()).isEmpty();
  }

  @Test
  void givenDeadHolderBeforeALiveWaiter_whenSwept_thenTheWaiterIsServedOrStillFirst() {
    needs(Capability.QUEUE);
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    a.hold(LOCK, EX);
    AttemptId waiter = b.queued(LOCK, EX);
    die(a);
    for (int i = 0; i < 20; i++) {
      BoundedWait.join(store().sweep(10));
    }
    granted(b.enqueue(LOCK, waiter, EX));
  }
}
