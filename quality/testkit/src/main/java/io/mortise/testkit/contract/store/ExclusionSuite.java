package io.mortise.testkit.contract.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.AttemptState;
import io.mortise.spi.Reply.EndReason;
import io.mortise.spi.Reply.RefusalReason;
import io.mortise.spi.Request;
import io.mortise.testkit.RecordingConsumer;
import io.mortise.testkit.RerunIfPaused;
import io.mortise.testkit.SessionDriver;
import io.mortise.testkit.StoreUnderTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * One holder at a time; only the attempt that has a hold can end it; every request can be repeated.
 */
class ExclusionSuite extends StoreSuite {
  ExclusionSuite(StoreUnderTest under) {
    super(under);
  }

  @Test
  @Tag("exclusion")
  void givenHold_whenAnotherAcquires_thenItIsBusyAndToldWhoHolds() {
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    Reply.Granted hold = a.hold(LOCK, EX);

    Reply.Busy busy = busy(b.acquire(LOCK, b.attempt(), EX));

    assertThat(inTheWay(busy).attempt()).isEqualTo(hold.attempt());
    assertThat(inTheWay(busy).sessionLeft()).isBetween(Duration.ofMinutes(4), LONG);
    assertThat(busy.retryAfter())
        .isBetween(Duration.ofMillis(1), LONG.plus(store().profile().expiryLag()).plusSeconds(1));
    assertThat(holders(LOCK)).containsExactly(hold.attempt());
    assertThat(waiters(LOCK)).isEmpty();
  }

  @Test
  @Tag("exclusion")
  void givenHold_whenTheSameSessionAcquiresUnderAnotherAttempt_thenItIsBusy() {
    SessionDriver a = session("a");
    a.hold(LOCK, EX);
    busy(a.acquire(LOCK, a.attempt(), EX));
  }

  @Test
  @Tag("exclusion")
  void givenManySessions_whenAllAcquire_thenExactlyOneHolds() {
    List<SessionDriver> sessions = Stream.of("a", "b", "c", "d").map(this::session).toList();
    long granted =
        sessions.stream()
            .map(session -> session.acquire(LOCK, session.attempt(), EX))
            .filter(Reply.Granted.class::isInstance)
            .count();
    assertThat(granted).isEqualTo(1);
    assertThat(holders(LOCK)).hasSize(1);
  }

  @Test
  @Tag("retried-attempt-granted-once")
  void givenGrant_whenTheAcquireIsSentAgain_thenItIsTheSameGrant_andOneReleaseEndsIt() {
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    AttemptId attempt = a.attempt();
    Reply.Granted first = granted(a.acquire(LOCK, attempt, EX));

    Reply.Granted second = granted(a.acquire(LOCK, attempt, EX));
    Reply.Granted third = granted(a.acquire(LOCK, attempt, EX));

    assertThat(List.of(second.token(), third.token())).containsOnly(first.token());
    assertThat(List.of(second.tokens(), third.tokens())).containsOnly(first.tokens());
    assertThat(holders(LOCK)).containsExactly(attempt);
    assertEnded(a.end(LOCK, attempt), AttemptState.HELD, EndReason.RELEASED);
    assertFree(LOCK, b);
  }

  @Test
  void givenReleasedHold_whenTheReleaseIsSentAgain_thenTheAnswerIsTheSame() {
    needs(Capability.SESSION);
    SessionDriver a = session("a");
    AttemptId attempt = a.hold(LOCK, EX).attempt();
    assertEnded(a.end(LOCK, attempt), AttemptState.HELD, EndReason.RELEASED);
    assertEnded(a.end(LOCK, attempt), AttemptState.HELD, EndReason.RELEASED);
    assertFree(LOCK, a);
  }

  @Test
  void givenReleasedHold_whenItsAcquireArrivesLate_thenItIsRefusedAndNothingIsHeld() {
    needs(Capability.SESSION);
    SessionDriver a = session("a");
    AttemptId attempt = a.hold(LOCK, EX).attempt();
    a.end(LOCK, attempt);
    assertRefused(a.acquire(LOCK, attempt, EX), RefusalReason.ENDED);
    assertFree(LOCK, session("b"));
  }

  @Test
  @RerunIfPaused
  @Tag("stale-holder-changes-nothing")
  void givenHoldThatWasTakenOver_whenItsOwnerReleasesAndRenewsLate_thenTheSuccessorKeepsTheLock() {
    SessionDriver a = shortSession("a");
    SessionDriver b = session("b");
    AttemptId stale = a.hold(LOCK, EX).attempt();
    outliveSession();
    judge(a);
    Reply.Granted successor = granted(b.take(LOCK, b.attempt(), EX, false, a.id()));

    assertEnded(a.end(LOCK, stale), AttemptState.HELD, EndReason.TAKEN);
    assertRefused(a.adjust(LOCK, stale, EX, HoldTerms.NONE, 1), RefusalReason.SESSION_GONE);
    assertRefused(a.acquire(LOCK, stale, EX), RefusalReason.SESSION_GONE);
    assertThat(a.renew()).isInstanceOf(Renewal.Lost.class);
    if (records()) {
      assertEnded(b.end(LOCK, stale), AttemptState.HELD, EndReason.TAKEN);
    } else {
      assertThat(b.end(LOCK, stale).how()).isIn(EndReason.TAKEN, EndReason.UNKNOWN);
    }

    assertThat(holders(LOCK)).containsExactly(successor.attempt());
    assertThat(granted(b.acquire(LOCK, successor.attempt(), EX)).token())
        .isEqualTo(successor.token());
    SessionDriver c = session("c");
    busy(c.acquire(LOCK, c.attempt(), EX));
  }

  @Test
  @RerunIfPaused
  @Tag("stale-holder-changes-nothing")
  void givenHoldThatExpiredByItself_whenItsOwnerReleasesLate_thenTheSuccessorKeepsTheLock() {
    Assumptions.assumeFalse(
        under.capabilities().contains(Capability.SESSION), "the store has SESSION");
    SessionDriver a = shortSession("a");
    SessionDriver b = session("b");
    AttemptId stale = a.hold(LOCK, EX).attempt();
    outliveSession();
    Reply.Granted successor = b.hold(LOCK, EX);

    assertThat(a.end(LOCK, stale).how()).isNotEqualTo(EndReason.RELEASED);
    assertRefused(a.acquire(LOCK, stale, EX), RefusalReason.SESSION_GONE);
    assertThat(a.renew()).isInstanceOf(Renewal.Lost.class);
    assertThat(b.end(LOCK, stale).how()).isNotEqualTo(EndReason.RELEASED);

    assertThat(holders(LOCK)).containsExactly(successor.attempt());
    SessionDriver c = session("c");
    busy(c.acquire(LOCK, c.attempt(), EX));
  }

  @Test
  @Tag("stale-holder-changes-nothing")
  void givenHold_whenForeignAttemptsAreAbandonedOrAdjusted_thenTheHoldStands() {
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    AttemptId attempt = a.hold(LOCK, EX).attempt();

    assertEnded(b.end(LOCK, b.attempt()), AttemptState.ABSENT, EndReason.UNKNOWN);
    assertEnded(a.end(LOCK, a.attempt()), AttemptState.ABSENT, EndReason.UNKNOWN);
    assertEnded(
        b.end(LOCK, new AttemptId(b.id(), attempt.number())),
        AttemptState.ABSENT,
        EndReason.UNKNOWN);
    assertRefused(b.adjust(LOCK, b.attempt(), EX, HoldTerms.NONE, 1), RefusalReason.NOT_HELD);
    assertRefused(a.adjust(LOCK, a.attempt(), EX, HoldTerms.NONE, 1), RefusalReason.NOT_HELD);

    assertThat(holders(LOCK)).containsExactly(attempt);
  }

  @Test
  void givenHold_whenAnotherSessionAbandonsThatVeryAttempt_thenItEnds() {
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    AttemptId attempt = a.hold(LOCK, EX).attempt();
    assertEnded(b.end(LOCK, attempt), AttemptState.HELD, EndReason.RELEASED);
    assertFree(LOCK, b);
  }

  @Test
  void givenNothing_whenAnUnknownAttemptIsAbandonedOrAdjusted_thenNothingIsWritten() {
    SessionDriver a = session("a");
    assertEnded(a.end(LOCK, a.attempt()), AttemptState.ABSENT, EndReason.UNKNOWN);
    assertRefused(a.adjust(LOCK, a.attempt(), EX, HoldTerms.NONE, 0), RefusalReason.NOT_HELD);
    assertThat(look(LOCK)).isEmpty();
  }

  @Test
  void givenHold_whenAnotherNameIsAcquired_thenItIsGranted() {
    SessionDriver a = session("a");
    a.hold(LOCK, EX);
    Reply.Granted other = session("b").hold(OTHER, EX);
    assertThat(holders(OTHER)).containsExactly(other.attempt());
  }

  @Test
  void givenRequestsSubmittedWithoutWaiting_thenThoseOfOneNameRunInThatOrder() {
    SessionDriver a = session("a");
    RecordingConsumer<Reply> replies = new RecordingConsumer<>();
    List<AttemptId> attempts = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      AttemptId attempt = a.attempt();
      attempts.add(attempt);
      a.session()
          .submit(
              new Request.Acquire(LOCK, attempt, EX, false, HoldTerms.NONE, 1, 0, null), replies);
      a.session().submit(new Request.Abandon(LOCK, attempt), replies);
    }
    List<Reply> all = replies.await(100);
    assertThat(all).hasSize(100);
    assertThat(all.stream().filter(this::isGrantedInTurn).map(Reply::attempt))
        .as("granted, of %s", all)
        .containsExactlyInAnyOrderElementsOf(attempts);
    assertThat(all.stream().filter(Reply.Ended.class::isInstance))
        .hasSize(50)
        .allSatisfy(reply -> assertEnded(reply, AttemptState.HELD, EndReason.RELEASED));
    assertFree(LOCK, a);
  }

  private boolean isGrantedInTurn(Reply reply) {
    boolean endedBeforeItsToken =
        reply instanceof Reply.Refused refused && refused.why() == RefusalReason.ENDED;
    return reply instanceof Reply.Granted || (endedBeforeItsToken && !under.givesAllTokens());
  }

  @Test
  void givenRequestsForManyNamesSubmittedWithoutWaiting_thenEachIsAnsweredOnce() {
    SessionDriver a = session("a");
    RecordingConsumer<Reply> replies = new RecordingConsumer<>();
    Map<AttemptId, LockName> names = new TreeMap<>(Comparator.comparing(AttemptId::number));
    for (int i = 0; i < 200; i++) {
      AttemptId attempt = a.attempt();
      names.put(attempt, LockName.of("n" + i));
      a.session()
          .submit(
              new Request.Acquire(
                  LockName.of("n" + i), attempt, EX, false, HoldTerms.NONE, 1, 0, null),
              replies);
    }
    List<Reply> all = replies.await(200);
    assertThat(all.size()).isEqualTo(200);
    assertAll(Reply.Granted.class, all);
    assertThat(new HashSet<>(all.stream().map(Reply::attempt).toList())).hasSize(200);
    names.forEach((attempt, name) -> assertThat(holders(name)).containsExactly(attempt));
  }
}
