package io.mortise.testkit.contract.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.UnsupportedByStoreException;
import io.mortise.admin.Eviction;
import io.mortise.admin.LockParticipant;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.Mode;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.AttemptState;
import io.mortise.spi.Reply.EndReason;
import io.mortise.spi.Reply.RefusalReason;
import io.mortise.spi.Request;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.StoreProfile;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.RerunIfPaused;
import io.mortise.testkit.SessionDriver;
import io.mortise.testkit.StoreUnderTest;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** A store has its declared capabilities, and refuses other requests at once without writing. */
class CapabilitySuite extends StoreSuite {
  CapabilitySuite(StoreUnderTest under) {
    super(under);
  }

  private void needsLackOf(Capability capability) {
    Assumptions.assumeFalse(
        under.capabilities().contains(capability), "the store has " + capability);
  }

  private void assertRefusedAndNothingWritten(
      boolean queue, Mode mode, HoldTerms terms, long tokenFloor) {
    SessionDriver a = session("a");
    AttemptId attempt = a.attempt();
    assertRefused(
        a.ask(new Request.Acquire(LOCK, attempt, mode, queue, terms, 1, tokenFloor, null)),
        RefusalReason.UNSUPPORTED);
    assertThat(look(LOCK)).isEmpty();
    assertEnded(a.end(LOCK, attempt), AttemptState.ABSENT, EndReason.UNKNOWN);
    AttemptId held = a.hold(OTHER, EX).attempt();
    assertThat(holders(OTHER)).containsExactly(held);
  }

  @Test
  void givenStore_thenItSaysExactlyWhatItsTestExpects() {
    StoreProfile profile = store().profile();
    assertThat(profile.capabilities()).isEqualTo(under.capabilities());
    assertThat(profile.display()).isNotBlank();
    assertThat(profile.maxInFlight()).isBetween(Duration.ZERO, Duration.ofMinutes(2));
    assertThat(profile.minTtl()).isBetween(Duration.ofMillis(1), Duration.ofSeconds(10));
    assertThat(profile.expiryLag()).isBetween(Duration.ZERO, Duration.ofSeconds(10));
  }

  @Test
  void givenNoQueue_whenAnAcquireWouldWait_thenItIsRefused() {
    needsLackOf(Capability.QUEUE);
    assertRefusedAndNothingWritten(true, EX, HoldTerms.NONE, 0);
  }

  @Test
  void givenNoToken_thenGrantsHaveNone_howeverManyAreWanted() {
    needsLackOf(Capability.TOKEN);
    SessionDriver a = session("a");
    AttemptId attempt = a.attempt();
    Reply.Granted grant =
        granted(a.ask(new Request.Acquire(LOCK, attempt, EX, false, HoldTerms.NONE, 64, 0, null)));
    Reply.Granted again = granted(a.adjust(LOCK, attempt, EX, HoldTerms.NONE, 64));
    for (Reply.Granted one : List.of(grant, again)) {
      assertThat(one.token()).isZero();
      assertThat(one.tokens()).isEqualTo(1);
    }
    SessionDriver b = session("b");
    assertThat(inTheWay(b.acquire(LOCK, b.attempt(), EX)).attempt()).isEqualTo(attempt);
  }

  @Test
  void givenNoSession_whenAskedToJudge_thenItIsRefused_andTheHoldStands() {
    needsLackOf(Capability.SESSION);
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    AttemptId attempt = a.hold(LOCK, EX).attempt();
    assertThatThrownBy(() -> store().judge(a.id()).toCompletableFuture().get(10, TimeUnit.SECONDS))
        .hasCauseInstanceOf(UnsupportedByStoreException.class);
    Reply.Holder inTheWay = inTheWay(b.acquire(LOCK, b.attempt(), EX));
    assertThat(inTheWay.attempt()).isEqualTo(attempt);
    assertThat(inTheWay.sessionLeft()).as("nobody is to judge").isPositive();
    // A false proof of a live session's death changes nothing.
    busy(b.take(LOCK, b.attempt(), EX, false, a.id()));
    assertThat(holders(LOCK)).containsExactly(attempt);
  }

  @Test
  @RerunIfPaused
  void givenNoSession_whenAHoldIsNotRenewed_thenItIsFreeAfterItsTtl_andNobodyNeedsToJudge() {
    needsLackOf(Capability.SESSION);
    SessionDriver a = shortSession("a");
    SessionDriver b = session("b");
    a.hold(LOCK, EX);
    busy(b.acquire(LOCK, b.attempt(), EX));
    outlive(shortTtl());
    assertThat(b.hold(LOCK, EX).wanted()).as("it cannot know").isTrue();
    assertThat(a.renew()).isInstanceOf(Renewal.Lost.class);
  }

  @Test
  void givenNoSession_whenAClientCloses_thenItsHoldsAreFreeAtOnce() {
    needsLackOf(Capability.SESSION);
    SessionDriver a = session("a");
    a.hold(LOCK, EX);
    a.hold(OTHER, EX);
    a.close();
    session("b").hold(LOCK, EX);
    session("c").hold(OTHER, EX);
  }

  @Test
  @RerunIfPaused
  void givenNoSession_whenManyHoldsAreRenewed_thenAllOutliveTheirTtl() {
    needsLackOf(Capability.SESSION);
    Duration ttl = shortTtl().multipliedBy(3);
    SessionDriver a = session("a", ttl);
    SessionDriver b = session("b");
    List<LockName> names = IntStream.range(0, 150).mapToObj(i -> LockName.of("many/" + i)).toList();
    for (int i = 0; i < names.size(); i++) {
      a.hold(names.get(i), EX);
      renewEveryTenth(a, i);
    }
    for (int i = 0; i < 4; i++) {
      under.pass(ttl.dividedBy(3));
      assertThat(a.notifications()).isEmpty();
    }
    for (int i = 0; i < names.size(); i++) {
      busy(b.acquire(names.get(i), b.attempt(), EX));
      renewEveryTenth(a, i);
    }
  }

  /** Each one would take longer than a TTL where holds are renewed separately. */
  private static void renewEveryTenth(SessionDriver session, int i) {
    if (i % 10 == 9) {
      renewed(session.renew());
    }
  }

  @Test
  void givenNoShared_whenAReaderAcquires_thenItIsRefused() {
    needsLackOf(Capability.SHARED);
    assertRefusedAndNothingWritten(false, SH, HoldTerms.NONE, 0);
  }

  @Test
  void givenNoPermits_whenAPermitIsAcquired_thenItIsRefused() {
    needsLackOf(Capability.PERMITS);
    assertRefusedAndNothingWritten(false, Mode.permits(1, 3), HoldTerms.NONE, 0);
    assertThat(store().profile().can(Capability.PERMITS)).isFalse();
  }

  @Test
  void givenNoAtMost_whenItIsAskedFor_thenItIsRefused() {
    needsLackOf(Capability.AT_MOST);
    assertRefusedAndNothingWritten(false, EX, atMost(LONG), 0);
  }

  @Test
  void givenNoAtLeast_whenItIsAskedFor_thenItIsRefused() {
    needsLackOf(Capability.AT_LEAST);
    assertRefusedAndNothingWritten(false, EX, atLeast(LONG), 0);
  }

  @Test
  void givenNoTokenFloor_whenItIsAskedFor_thenItIsRefused() {
    needsLackOf(Capability.TOKEN_FLOOR);
    assertRefusedAndNothingWritten(false, EX, HoldTerms.NONE, 7);
  }

  @Test
  void givenNoCallBack_whenAStickyAttemptAcquires_thenItIsRefusedAndNothingWritten() {
    needsLackOf(Capability.CALL_BACK);
    SessionDriver a = session("a");
    AttemptId attempt = sticky(a);
    assertRefused(a.acquire(LOCK, attempt, EX), RefusalReason.UNSUPPORTED);
    assertThat(look(LOCK)).isEmpty();
    assertEnded(a.end(LOCK, attempt), AttemptState.ABSENT, EndReason.UNKNOWN);
  }

  @Test
  void givenCallBack_whenAnotherMeetsAStickyHold_thenItSeesTheMark_andTheHolderHearsOrFindsIt() {
    needs(Capability.CALL_BACK);
    assertThat(under.capabilities()).contains(Capability.SESSION, Capability.QUEUE);
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    AttemptId attempt = sticky(a);
    granted(a.acquire(LOCK, attempt, EX));
    assertThat(inTheWay(b.acquire(LOCK, b.attempt(), EX)).attempt()).isEqualTo(attempt);
    assertThat(inTheWay(b.acquire(LOCK, b.attempt(), EX)).attempt().isSticky()).isTrue();
    BoundedWait.until(
        BoundedWait.ANSWER,
        "the idle holder heard that it is wanted",
        () -> {
          BoundedWait.join(a.session().lookForCallBacks());
          return a.hints().all().contains(new SessionNotification.Contended(LOCK, attempt));
        });
  }

  private static AttemptId sticky(SessionDriver session) {
    AttemptId plain = session.attempt();
    return new AttemptId(plain.session(), AttemptId.stickyNumber(plain.number()));
  }

  @Test
  void givenNoDowngrade_whenAWriterNarrows_thenItIsRefusedAndStaysAWriter() {
    needsLackOf(Capability.DOWNGRADE);
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    AttemptId writer = a.hold(LOCK, EX).attempt();
    assertRefused(a.adjust(LOCK, writer, SH, HoldTerms.NONE, 0), RefusalReason.UNSUPPORTED);
    busy(b.acquire(LOCK, b.attempt(), EX));
    assertThat(look(LOCK).orElseThrow().holders())
        .extracting(LockParticipant::share)
        .containsExactly(Mode.share(Mode.SHARERS, Mode.SHARERS));
  }

  @Test
  void givenNoTimes_whenAHoldIsAdjustedToHaveThem_thenItIsRefusedAndTheHoldStands() {
    SessionDriver a = session("a");
    AttemptId attempt = a.hold(LOCK, EX).attempt();
    for (Capability lacking : List.of(Capability.AT_MOST, Capability.AT_LEAST)) {
      if (!under.capabilities().contains(lacking)) {
        HoldTerms terms = lacking == Capability.AT_MOST ? atMost(LONG) : atLeast(LONG);
        assertRefused(a.adjust(LOCK, attempt, EX, terms, 0), RefusalReason.UNSUPPORTED);
      }
    }
    assertThat(look(LOCK).orElseThrow().holders().get(0).atMostLeft()).isNull();
    assertEnded(a.end(LOCK, attempt), AttemptState.HELD, EndReason.RELEASED);
    assertFree(LOCK, a);
  }

  @Test
  void givenNoEvict_whenAnOperatorEvicts_thenItIsRefusedAndTheHoldStands() {
    needsLackOf(Capability.EVICT);
    SessionDriver a = session("a");
    AttemptId attempt = a.hold(LOCK, EX).attempt();
    for (Eviction how : Eviction.values()) {
      assertThatThrownBy(
              () ->
                  store().evict(LOCK, attempt, how).toCompletableFuture().get(10, TimeUnit.SECONDS))
          .hasCauseInstanceOf(UnsupportedByStoreException.class);
    }
    assertThatThrownBy(() -> store().reopen(LOCK).toCompletableFuture().get(10, TimeUnit.SECONDS))
        .hasCauseInstanceOf(UnsupportedByStoreException.class);
    assertThat(holders(LOCK)).containsExactly(attempt);
    assertThat(a.notifications()).isEmpty();
  }

  @Test
  void givenNoPush_thenNewsArrivesByRenewalOnly() {
    needsLackOf(Capability.PUSH);
    needs(Capability.SESSION);
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    AttemptId attempt = a.hold(LOCK, EX).attempt();
    busy(b.acquire(LOCK, b.attempt(), EX));
    assertThat(a.notifications()).containsExactly(new SessionNotification.Contended(LOCK, attempt));
    assertThat(a.hints().all()).isEmpty();
  }
}
