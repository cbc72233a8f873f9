package io.mortise.testkit.contract.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.HoldTerms;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.AttemptState;
import io.mortise.spi.Reply.EndReason;
import io.mortise.spi.Reply.RefusalReason;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.PauseDetector;
import io.mortise.testkit.RerunIfPaused;
import io.mortise.testkit.SessionDriver;
import io.mortise.testkit.StoreUnderTest;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** At most and at least: times that the store keeps, whatever becomes of the process. */
class TimeLimitSuite extends StoreSuite {
  private static final Duration SHORT = Duration.ofMillis(50);

  TimeLimitSuite(StoreUnderTest under) {
    super(under);
  }

  @Test
  void givenAtMost_whenItIsOver_thenTheLockIsFreeThoughTheSessionLives_andTheOwnerIsTold() {
    needs(Capability.AT_MOST);
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    Reply.Granted hold = a.hold(LOCK, EX, atMost(SHORT));
    assertThat(hold.atMostLeft()).isBetween(Duration.ZERO, SHORT);
    outlive(SHORT);

    Reply.Granted next = b.hold(LOCK, EX);

    assertThat(only(SessionNotification.HoldEnded.class, a.notifications()))
        .containsExactly(
            new SessionNotification.HoldEnded(LOCK, hold.attempt(), EndReason.EXPIRED));
    assertEnded(a.end(LOCK, hold.attempt()), AttemptState.HELD, EndReason.EXPIRED);
    assertThat(holders(LOCK)).containsExactly(next.attempt());
  }

  @Test
  void givenAtMostThatIsOver_whenTheOwnerReleases_thenItIsToldThatItExpired() {
    needs(Capability.AT_MOST);
    SessionDriver a = session("a");
    AttemptId attempt = a.hold(LOCK, EX, atMost(SHORT)).attempt();
    outlive(SHORT);
    assertEnded(a.end(LOCK, attempt), AttemptState.HELD, EndReason.EXPIRED);
    assertFree(LOCK, session("b"));
  }

  @Test
  void givenAtMostThatIsOver_whenTheOwnerAsksAgainOrExtends_thenItIsRefused() {
    needs(Capability.AT_MOST);
    SessionDriver a = session("a");
    AttemptId attempt = a.hold(LOCK, EX, atMost(SHORT)).attempt();
    outlive(SHORT);
    assertRefused(a.adjust(LOCK, attempt, EX, atMost(LONG), 0), RefusalReason.NOT_HELD);
    assertRefused(a.acquire(LOCK, attempt, EX), RefusalReason.ENDED);
  }

  @Test
  void givenAtMostOfTwoMilliseconds_thenItWorks() {
    needs(Capability.AT_MOST);
    SessionDriver a = session("a");
    Reply reply =
        a.ask(
            new Request.Acquire(
                LOCK, a.attempt(), EX, false, atMost(Duration.ofMillis(2)), 1, 0, null));
    // A store with several steps may find the time over before it has answered.
    if (!(reply instanceof Reply.Refused refused && refused.why() == RefusalReason.ENDED)) {
      granted(reply);
    }
    outlive(Duration.ofMillis(2));
    session("b").hold(LOCK, EX);
  }

  @Test
  @RerunIfPaused
  void givenAtMost_whenItIsExtended_thenItCountsFromThen_andTheHoldOutlivesTheFirst() {
    needs(Capability.AT_MOST);
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    Duration first = PauseDetector.stretched(Duration.ofMillis(400));
    Reply.Granted hold = a.hold(LOCK, EX, atMost(first));
    Reply.Granted longer = granted(a.adjust(LOCK, hold.attempt(), EX, atMost(LONG), 0));
    assertThat(longer.token()).isEqualTo(hold.token());
    assertThat(longer.atMostLeft()).isBetween(Duration.ofMinutes(4), LONG);
    outlive(first);
    busy(b.acquire(LOCK, b.attempt(), EX));
    granted(a.adjust(LOCK, hold.attempt(), EX, atMost(SHORT), 0));
    outlive(SHORT);
    b.hold(LOCK, EX);
  }

  @Test
  @RerunIfPaused
  void givenAtMost_whenTheHoldIsAdjustedWithoutTimes_thenItsTimeRunsOn() {
    needs(Capability.AT_MOST);
    SessionDriver a = session("a");
    Duration time = PauseDetector.stretched(Duration.ofMillis(400));
    Reply.Granted hold = a.hold(LOCK, EX, atMost(time));
    Reply.Granted same = granted(a.adjust(LOCK, hold.attempt(), EX, HoldTerms.NONE, 0));
    assertThat(same.atMostLeft()).isBetween(Duration.ZERO, time);
    outlive(time);
    session("b").hold(LOCK, EX);
  }

  @Test
  void givenAtMost_whenTheAcquireIsSentAgain_thenTheTimeDoesNotStartAnew() {
    needs(Capability.AT_MOST);
    SessionDriver a = session("a");
    AttemptId attempt = a.attempt();
    granted(a.ask(timed(LOCK, attempt, false, atMost(Duration.ofSeconds(60)))));
    under.pass(Duration.ofMillis(30));
    Reply.Granted again =
        granted(a.ask(timed(LOCK, attempt, false, atMost(Duration.ofSeconds(60)))));
    assertThat(again.atMostLeft()).isLessThan(Duration.ofMillis(59_985));
  }

  @Test
  @RerunIfPaused
  void givenWaiterWithAtMost_thenTheTimeCountsFromItsGrant() {
    needs(Capability.AT_MOST, Capability.QUEUE);
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    AttemptId first = a.hold(LOCK, EX).attempt();
    AttemptId waiter = b.attempt();
    queued(b.ask(timed(LOCK, waiter, true, atMost(Duration.ofSeconds(60)))));
    under.pass(Duration.ofMillis(100));
    a.end(LOCK, first);
    assertThat(only(SessionNotification.HoldGranted.class, b.notifications()))
        .allMatch(SessionNotification.HoldGranted::timed)
        .hasSize(1);
    Reply.Granted grant = granted(b.ask(timed(LOCK, waiter, true, atMost(Duration.ofSeconds(60)))));
    assertThat(grant.atMostLeft()).isGreaterThan(Duration.ofMillis(59_900).minusSeconds(10));
  }

  @Test
  @RerunIfPaused
  void givenHoldThatExpires_whenAWaiterAsksAgain_thenItHolds() {
    needs(Capability.AT_MOST, Capability.QUEUE);
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    Duration time = PauseDetector.stretched(Duration.ofMillis(300));
    a.hold(LOCK, EX, atMost(time));
    AttemptId waiter = b.attempt();
    Reply.Queued reply = queued(b.enqueue(LOCK, waiter, EX));
    assertThat(reply.retryAfter())
        .as("no later than the lock is free")
        .isLessThan(Duration.ofSeconds(2));
    outlive(time);
    granted(b.enqueue(LOCK, waiter, EX));
  }

  @Test
  @RerunIfPaused
  void givenAtLeast_whenItIsReleasedSooner_thenTheLockStaysShutUntilThen() {
    needs(Capability.AT_LEAST);
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    Duration least = PauseDetector.stretched(Duration.ofSeconds(1));
    AttemptId attempt = a.hold(LOCK, EX, atLeast(least)).attempt();
    assertEnded(a.end(LOCK, attempt), AttemptState.HELD, EndReason.RELEASED);

    Reply.Busy busy = busy(b.acquire(LOCK, b.attempt(), EX));
    assertThat(busy.holder()).isNull();
    assertThat(busy.retryAfter()).isBetween(Duration.ofMillis(1), least.plusMillis(500));
    assertThat(holders(LOCK)).isEmpty();
    assertThat(look(LOCK).orElseThrow().shutFor()).isBetween(Duration.ofMillis(1), shown(least));
    outlive(least);
    b.hold(LOCK, EX);
  }

  @Test
  void givenHolderThatDiedUnderAtLeast_whenLookedAt_thenTheLockIsShutThatLong() {
    needs(Capability.AT_LEAST);
    needsProofs();
    SessionDriver a = session("a");
    a.hold(LOCK, EX, atLeast(LONG));
    assertThat(look(LOCK).orElseThrow().shutFor()).as("its holder lives").isZero();
    die(a);
    LockInfo dead = look(LOCK).orElseThrow();
    assertThat(dead.holders()).hasSize(1);
    assertThat(dead.shutFor()).isBetween(Duration.ofMinutes(3), shown(LONG));
  }

  @Test
  void givenAtLeast_whenItIsRestarted_thenTheNewTimeCounts_longerOrShorter() {
    needs(Capability.AT_LEAST);
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    AttemptId first = a.hold(LOCK, EX, atLeast(LONG)).attempt();
    granted(a.adjust(LOCK, first, EX, atLeast(Duration.ofMillis(1)), 0));
    outlive(Duration.ofMillis(1));
    a.end(LOCK, first);
    AttemptId second = b.hold(LOCK, EX).attempt();
    granted(b.adjust(LOCK, second, EX, atLeast(LONG), 0));
    granted(b.adjust(LOCK, second, EX, HoldTerms.NONE, 0));
    b.end(LOCK, second);
    busy(a.acquire(LOCK, a.attempt(), EX));
    assertThat(look(LOCK).orElseThrow().shutFor()).isBetween(Duration.ofMinutes(4), shown(LONG));
  }

  @Test
  @RerunIfPaused
  void givenAtLeast_whenTheHolderDies_thenTheLockStaysShutUntilThen() {
    needs(Capability.AT_LEAST);
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    Duration least = PauseDetector.stretched(Duration.ofSeconds(1));
    a.hold(LOCK, EX, atLeast(least));
    SessionId dead = die(a);
    busy(b.take(LOCK, b.attempt(), EX, false, dead));
    assertThat(holders(LOCK)).isEmpty();
    outlive(least);
    b.hold(LOCK, EX);
  }

  @Test
  @RerunIfPaused
  void givenPermitsWithAtLeastTimes_whenAllAreReleased_thenTheLongestKeepsTheSemaphoreShut() {
    needs(Capability.AT_LEAST, Capability.PERMITS);
    SessionDriver a = session("a");
    Mode permit = Mode.permits(1, 3);
    Duration longest = PauseDetector.stretched(Duration.ofSeconds(1));
    AttemptId first = a.hold(LOCK, permit, atLeast(longest)).attempt();
    AttemptId second = a.hold(LOCK, permit, atLeast(SHORT)).attempt();
    a.end(LOCK, first);
    a.end(LOCK, second);
    outlive(SHORT);
    busy(a.acquire(LOCK, a.attempt(), permit));
    outlive(longest);
    a.hold(LOCK, permit);
  }

  @Test
  void givenShutLock_whenItIsSweptAndWaitedFor_thenItIsShutForNoLonger() {
    needs(Capability.AT_LEAST, Capability.QUEUE);
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    Duration least = PauseDetector.stretched(Duration.ofSeconds(1));
    a.end(LOCK, a.hold(LOCK, EX, atLeast(least)).attempt());
    AttemptId waiter = b.queued(LOCK, EX);
    for (int i = 0; i < 4; i++) {
      // Each writes the record.
      b.end(LOCK, b.queued(LOCK, EX));
      BoundedWait.join(store().sweep(1_000));
      under.pass(least.dividedBy(4));
    }
    outlive(SHORT);
    granted(b.enqueue(LOCK, waiter, EX));
  }

  @Test
  void givenAtLeastThatIsOver_whenReleased_thenTheLockIsFreeAtOnce() {
    needs(Capability.AT_LEAST);
    SessionDriver a = session("a");
    AttemptId attempt = a.hold(LOCK, EX, atLeast(SHORT)).attempt();
    outlive(SHORT);
    a.end(LOCK, attempt);
    assertFree(LOCK, session("b"));
  }

  @Test
  @RerunIfPaused
  void givenAtLeast_whenItIsReleasedSooner_thenWaitersAreServedAfterwardsByWhoeverAsks() {
    needs(Capability.AT_LEAST, Capability.QUEUE);
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    SessionDriver c = session("c");
    Duration least = PauseDetector.stretched(Duration.ofSeconds(1));
    AttemptId attempt = a.hold(LOCK, EX, atLeast(least)).attempt();
    AttemptId head = b.queued(LOCK, EX);
    AttemptId later = c.queued(LOCK, EX);
    a.end(LOCK, attempt);
    assertThat(holders(LOCK)).isEmpty();
    assertThat(waiters(LOCK)).containsExactly(head, later);
    outlive(least);
    queued(c.enqueue(LOCK, later, EX));
    assertThat(holders(LOCK)).containsExactly(head);
  }

  @Test
  @RerunIfPaused
  void givenAtMostAndAtLeast_thenTheLockIsShutForTheOneAndNotLongerThanTheOther() {
    needs(Capability.AT_LEAST, Capability.AT_MOST);
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    Duration time = PauseDetector.stretched(Duration.ofSeconds(1));
    AttemptId attempt = a.hold(LOCK, EX, new HoldTerms(time, time, "")).attempt();
    a.end(LOCK, attempt);
    busy(b.acquire(LOCK, b.attempt(), EX));
    outlive(time);
    b.hold(LOCK, EX);
  }

  @Test
  void givenEarlierHoldWithTimes_whenTheLockIsTakenAnew_thenTheyAreNotInherited() {
    needs(Capability.AT_MOST);
    SessionDriver a = session("a");
    Duration time = Duration.ofMillis(300);
    AttemptId first = a.hold(LOCK, EX, atMost(time)).attempt();
    a.end(LOCK, first);
    Reply.Granted second = a.hold(LOCK, EX);
    assertThat(second.atMostLeft()).isNull();
    outlive(time);
    SessionDriver b = session("b");
    busy(b.acquire(LOCK, b.attempt(), EX));
    assertThat(granted(a.acquire(LOCK, second.attempt(), EX)).token()).isEqualTo(second.token());
  }

  @Test
  void givenAtMost_whenLookedAt_thenItsRestIsShown() {
    needs(Capability.AT_MOST);
    session("a").hold(LOCK, EX, atMost(LONG));
    LockParticipant holder = look(LOCK).orElseThrow().holders().get(0);
    assertThat(holder.atMostLeft()).isBetween(Duration.ofMinutes(4), LONG);
  }
}
