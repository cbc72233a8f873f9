package io.mortise.testkit.contract.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.RefusalReason;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionVerdict;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.RerunIfPaused;
import io.mortise.testkit.SessionDriver;
import io.mortise.testkit.StoreUnderTest;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** A session lives by a compare-and-set of its beat, and its end is decided in a separate step. */
class SessionSuite extends StoreSuite {
  SessionSuite(StoreUnderTest under) {
    super(under);
  }

  @Test
  void givenSessionThatWasNeverRenewed_whenItAcquires_thenItIsRefusedAndNothingIsWritten() {
    SessionDriver a = SessionDriver.prepare(store(), LONG, "a");
    assertRefused(a.acquire(LOCK, a.attempt(), EX), RefusalReason.SESSION_GONE);
    assertThat(look(LOCK)).isEmpty();
  }

  @Test
  void givenClosedSession_whenAnAcquireArrivesLate_thenItIsRefusedAndNothingIsWritten() {
    SessionDriver a = session("a");
    SessionDriver onTheWire = a.twin(store());
    a.close();
    assertRefused(a.acquire(LOCK, a.attempt(), EX), RefusalReason.SESSION_GONE);
    assertRefused(onTheWire.acquire(LOCK, onTheWire.attempt(), EX), RefusalReason.SESSION_GONE);
    assertThat(look(LOCK)).isEmpty();
  }

  @Test
  void givenClosedSession_whenAnAcquireMeetsAHolder_thenNoNoteAndNoPlaceIsLeft() {
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    a.hold(LOCK, EX);
    SessionDriver onTheWire = b.twin(store());
    b.close();
    assertRefused(onTheWire.acquire(LOCK, onTheWire.attempt(), EX), RefusalReason.SESSION_GONE);
    assertThat(a.notifications()).isEmpty();
    assertThat(waiters(LOCK)).isEmpty();
  }

  @Test
  void givenExpiredSession_thenItIsJudgedEnded_andItsAcquireAndRenewalAreRefused() {
    SessionDriver a = shortSession("a");
    SessionDriver unjudged = shortSession("b");
    outliveSession();
    assertRefused(a.acquire(LOCK, a.attempt(), EX), RefusalReason.SESSION_GONE);
    assertThat(judge(a)).isInstanceOf(SessionVerdict.SessionEnded.class);
    assertThat(unjudged.renew()).isInstanceOf(Renewal.Lost.class);
    assertThat(a.renew()).isInstanceOf(Renewal.Lost.class);
    assertThat(judge(a)).isInstanceOf(SessionVerdict.SessionEnded.class);
    assertThat(look(LOCK)).isEmpty();
  }

  @Test
  @RerunIfPaused
  void givenSessionThatIsRenewed_thenItOutlivesItsTtl() {
    SessionDriver a = shortSession("a");
    AttemptId attempt = a.hold(LOCK, EX).attempt();
    for (int i = 0; i < 4; i++) {
      under.pass(shortTtl().dividedBy(3));
      renewed(a.renew());
    }
    assertThat(judge(a)).isInstanceOf(SessionVerdict.Alive.class);
    assertThat(granted(a.acquire(LOCK, attempt, EX)).attempt()).isEqualTo(attempt);
  }

  @Test
  void givenLiveSession_whenJudged_thenItsBeatAndTimeLeftAreTold_andItLivesOn() {
    SessionDriver a = session("a");
    a.renew();
    assertThat(judge(a))
        .isInstanceOfSatisfying(
            SessionVerdict.Alive.class,
            alive -> {
              assertThat(alive.beat()).isEqualTo(a.beat());
              assertThat(alive.left()).isBetween(Duration.ofMinutes(4), LONG);
            });
    renewed(a.renew());
  }

  @Test
  void givenUnknownSession_whenJudged_thenItHasEnded() {
    assertThat(judge(SessionDriver.prepare(store(), LONG, "a")))
        .isInstanceOf(SessionVerdict.SessionEnded.class);
  }

  @Test
  void givenLostReplyOfARenewal_whenItIsSentAgain_thenItIsAccepted() {
    SessionDriver a = session("a");
    long beat = a.beat();
    renewed(a.renew(beat, beat + 5, List.of()));
    renewed(a.renew(beat, beat + 5, List.of()));
    renewed(a.renew(beat + 5, beat + 6, List.of()));
  }

  @Test
  void givenLostReplyOfTheFirstRenewal_whenItIsSentAgain_thenItIsAccepted() {
    SessionDriver a = SessionDriver.prepare(store(), LONG, "a");
    renewed(a.renew(0, 7, List.of()));
    renewed(a.renew(0, 7, List.of()));
    renewed(a.renew(7, 8, List.of()));
  }

  /** A slow try is followed by another, so that several may be answered late. */
  @Test
  void givenTwoTriesOfARenewalUnderWay_whenTheNextFollowsTheFirstAnswer_thenNoneIsLost() {
    SessionDriver a = SessionDriver.prepare(store(), LONG, "a");
    long beat = 0;
    for (int i = 0; i < 20; i++) {
      CompletableFuture<Renewal> first = started(a, beat, beat + 5);
      CompletableFuture<Renewal> second = started(a, beat, beat + 5);
      renewed(BoundedWait.join(first));
      CompletableFuture<Renewal> next = started(a, beat + 5, beat + 6);
      renewed(BoundedWait.join(next));
      renewed(BoundedWait.join(second));
      beat += 6;
    }
  }

  private static CompletableFuture<Renewal> started(SessionDriver a, long previous, long next) {
    return a.session().renew(previous, next, List.of()).toCompletableFuture();
  }

  @Test
  void givenCloneThatRenewsWithItsOwnBeat_thenOneOfTheTwoIsLost() {
    needs(Capability.SESSION);
    SessionDriver a = session("a");
    long beat = a.beat();
    renewed(a.renew(beat, beat + 10, List.of()));
    assertThat(a.renew(beat, beat + 20, List.of())).isInstanceOf(Renewal.Lost.class);
    renewed(a.renew(beat + 10, beat + 11, List.of()));
    assertThat(a.renew(0, beat + 30, List.of())).isInstanceOf(Renewal.Lost.class);
  }

  @Test
  void givenClosedSession_whenItRenewsOn_thenItIsLost() {
    SessionDriver a = session("a");
    SessionDriver onTheWire = a.twin(store());
    a.close();
    assertThat(onTheWire.renew()).isInstanceOf(Renewal.Lost.class);
    assertThat(judge(a)).isInstanceOf(SessionVerdict.SessionEnded.class);
  }

  @Test
  void givenRenewals_thenTheStoresTimeDoesNotGoBack() {
    SessionDriver a = session("a");
    long last = 0;
    for (int i = 0; i < 5; i++) {
      long micros = renewed(a.renew()).storeMicros();
      assertThat(micros).isGreaterThanOrEqualTo(last);
      last = micros;
    }
  }

  @Test
  void
      givenHolderThatDied_whenAContenderHasNoProof_thenTheHoldStandsAndTheContenderIsToldToJudge() {
    needs(Capability.SESSION, Capability.PROOF);
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    AttemptId attempt = a.hold(LOCK, EX).attempt();
    a.close();

    Reply.Busy busy = busy(b.acquire(LOCK, b.attempt(), EX));

    assertThat(inTheWay(busy).attempt()).isEqualTo(attempt);
    assertThat(inTheWay(busy).sessionLeft()).isZero();
    assertThat(busy.retryAfter()).isLessThan(Duration.ofSeconds(1));
    assertThat(holders(LOCK)).containsExactly(attempt);
  }

  @Test
  void givenHolderThatDied_whenTheStoreNeedsNoProof_thenAContenderHoldsAtOnce() {
    Assumptions.assumeFalse(proofs(), "the store wants a proof");
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    a.hold(LOCK, EX);
    a.close();
    b.hold(LOCK, EX);
  }

  @Test
  void givenHolderThatDied_whenAContenderBringsTheProof_thenItHolds() {
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    a.hold(LOCK, EX);
    SessionId dead = die(a);
    Reply.Granted grant = granted(b.take(LOCK, b.attempt(), EX, false, dead));
    assertThat(holders(LOCK)).containsExactly(grant.attempt());
  }

  @Test
  @RerunIfPaused
  void givenHolderWhoseSessionExpired_whenItIsJudgedAndProven_thenAContenderHolds() {
    SessionDriver a = shortSession("a");
    SessionDriver b = session("b");
    a.hold(LOCK, EX);
    outliveSession();
    assertThat(judge(a)).isInstanceOf(SessionVerdict.SessionEnded.class);
    granted(b.take(LOCK, b.attempt(), EX, false, a.id()));
  }

  @Test
  void givenLiveHolder_whenAContenderProvesTheDeathOfAnother_thenTheHoldStands() {
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    SessionDriver c = session("c");
    AttemptId attempt = a.hold(LOCK, EX).attempt();
    SessionId dead = die(c);
    busy(b.take(LOCK, b.attempt(), EX, false, dead));
    assertThat(holders(LOCK)).containsExactly(attempt);
    assertThat(granted(a.acquire(LOCK, attempt, EX)).attempt()).isEqualTo(attempt);
  }

  @Test
  void givenLockThatHasPassedOn_whenAProofOfTheFormerHolderArrivesLate_thenTheNewHolderKeepsIt() {
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    SessionDriver c = session("c");
    a.hold(LOCK, EX);
    SessionId dead = die(a);
    AttemptId heir = granted(b.take(LOCK, b.attempt(), EX, false, dead)).attempt();
    busy(c.take(LOCK, c.attempt(), EX, false, dead));
    assertThat(holders(LOCK)).containsExactly(heir);
  }
}
