package io.mortise.testkit.contract.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.HoldTerms;
import io.mortise.admin.Eviction;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.AttemptState;
import io.mortise.spi.Reply.EndReason;
import io.mortise.spi.Reply.RefusalReason;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.RerunIfPaused;
import io.mortise.testkit.SessionDriver;
import io.mortise.testkit.StoreUnderTest;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An operator ends holds and waits: gently (close) or at once (break). */
class EvictSuite extends StoreSuite {
  EvictSuite(StoreUnderTest under) {
    super(under);
  }

  @BeforeEach
  void needsEvict() {
    needs(Capability.EVICT);
  }

  private Reply.Ended evict(AttemptId attempt, Eviction how) {
    return BoundedWait.join(store().evict(LOCK, attempt, how));
  }

  private Reply.Ended close(AttemptId attempt) {
    return evict(attempt, Eviction.CLOSE);
  }

  private Reply.Ended breakUp(AttemptId attempt) {
    return evict(attempt, Eviction.BREAK);
  }

  @Test
  void givenLiveHolder_whenClosed_thenItIsTold_andTheLockStaysShutUntilItLetsGo() {
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    AttemptId attempt = a.hold(LOCK, EX).attempt();

    assertEnded(close(attempt), AttemptState.HELD, EndReason.EVICTED);

    assertThat(only(SessionNotification.HoldEnded.class, a.notifications()))
        .containsExactly(new SessionNotification.HoldEnded(LOCK, attempt, EndReason.EVICTED));
    busy(b.acquire(LOCK, b.attempt(), EX));
    assertRefused(a.adjust(LOCK, attempt, EX, HoldTerms.NONE, 1), RefusalReason.NOT_HELD);
    assertEnded(a.end(LOCK, attempt), AttemptState.HELD, EndReason.EVICTED);
    assertFree(LOCK, b);
  }

  @Test
  @RerunIfPaused
  void givenClosedHolderThatKeepsRenewing_thenTheLockIsFreeWhenItsTtlAtThatTimeIsOver() {
    SessionDriver a = shortSession("a");
    SessionDriver b = session("b");
    AttemptId attempt = a.hold(LOCK, EX).attempt();
    close(attempt);
    for (int i = 0; i < 4; i++) {
      under.pass(shortTtl().dividedBy(3));
      renewed(a.renew());
    }
    outlive(Duration.ofMillis(1));
    b.hold(LOCK, EX);
    assertEnded(a.end(LOCK, attempt), AttemptState.HELD, EndReason.EVICTED);
  }

  @Test
  void givenClosedHolder_whenClosedAgain_thenItIsNotToldAgain() {
    SessionDriver a = session("a");
    AttemptId attempt = a.hold(LOCK, EX).attempt();
    close(attempt);
    assertEnded(close(attempt), AttemptState.HELD, EndReason.EVICTED);
    assertThat(only(SessionNotification.HoldEnded.class, a.notifications()))
        .containsExactly(new SessionNotification.HoldEnded(LOCK, attempt, EndReason.EVICTED));
    assertEnded(close(attempt), AttemptState.HELD, EndReason.EVICTED);
    assertThat(only(SessionNotification.HoldEnded.class, a.notifications())).isEmpty();
  }

  @Test
  void givenDeadHolder_whenClosed_thenTheLockIsFreeAtOnce() {
    needsProofs();
    SessionDriver a = session("a");
    AttemptId attempt = a.hold(LOCK, EX).attempt();
    die(a);
    assertEnded(close(attempt), AttemptState.HELD, EndReason.EVICTED);
    assertFree(LOCK, session("b"));
  }

  @Test
  void givenLiveHolder_whenBroken_thenTheLockIsFreeAtOnce_andTheHolderIsTold() {
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    AttemptId attempt = a.hold(LOCK, EX).attempt();
    assertEnded(breakUp(attempt), AttemptState.HELD, EndReason.EVICTED);
    Reply.Granted next = b.hold(LOCK, EX);
    assertThat(only(SessionNotification.HoldEnded.class, a.notifications()))
        .containsExactly(new SessionNotification.HoldEnded(LOCK, attempt, EndReason.EVICTED));
    assertEnded(a.end(LOCK, attempt), AttemptState.HELD, EndReason.EVICTED);
    assertRefused(a.acquire(LOCK, attempt, EX), RefusalReason.EVICTED);
    assertThat(holders(LOCK)).containsExactly(next.attempt());
  }

  @Test
  void givenClosedHolder_whenBrokenAfterwards_thenTheLockIsFreeAtOnce() {
    SessionDriver a = session("a");
    AttemptId attempt = a.hold(LOCK, EX).attempt();
    close(attempt);
    assertEnded(breakUp(attempt), AttemptState.HELD, EndReason.EVICTED);
    assertFree(LOCK, session("b"));
  }

  @Test
  void givenWaiter_whenTheHolderIsBroken_thenTheWaiterIsServed() {
    needs(Capability.QUEUE);
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    AttemptId attempt = a.hold(LOCK, EX).attempt();
    AttemptId waiter = b.queued(LOCK, EX);
    breakUp(attempt);
    assertThat(holders(LOCK)).containsExactly(waiter);
    assertThat(only(SessionNotification.HoldGranted.class, b.notifications()))
        .extracting(SessionNotification::attempt)
        .containsExactly(waiter);
  }

  @Test
  void givenLongQueue_whenItsLastWaiterIsEvicted_thenTheOthersKeepTheirPlaces() {
    needs(Capability.QUEUE);
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    a.hold(LOCK, EX);
    List<AttemptId> queue = Stream.generate(() -> b.queued(LOCK, EX)).limit(50).toList();
    AttemptId last = queue.get(49);
    assertEnded(breakUp(last), AttemptState.WAITING, EndReason.EVICTED);
    assertRefused(b.enqueue(LOCK, last, EX), RefusalReason.EVICTED);
    assertThat(waiters(LOCK)).containsExactlyElementsOf(queue.subList(0, 49));
  }

  @Test
  void givenWaiter_whenEvicted_thenItIsTold_andLeavesTheQueue() {
    needs(Capability.QUEUE);
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    AttemptId holder = a.hold(LOCK, EX).attempt();
    AttemptId waiter = b.queued(LOCK, EX);
    AttemptId next = b.queued(LOCK, EX);
    assertEnded(close(waiter), AttemptState.WAITING, EndReason.EVICTED);
    assertThat(waiters(LOCK)).containsExactly(next);
    assertThat(b.notifications())
        .containsExactly(new SessionNotification.HoldEnded(LOCK, waiter, EndReason.EVICTED));
    assertRefused(b.enqueue(LOCK, waiter, EX), RefusalReason.EVICTED);
    a.end(LOCK, holder);
    assertThat(holders(LOCK)).containsExactly(next);
  }

  @Test
  void givenUnknownAttempt_whenEvicted_thenNothingHappens() {
    SessionDriver a = session("a");
    AttemptId unknown = a.attempt();
    assertEnded(close(unknown), AttemptState.ABSENT, EndReason.UNKNOWN);
    assertThat(look(LOCK)).isEmpty();
    AttemptId attempt = a.hold(LOCK, EX).attempt();
    assertEnded(breakUp(unknown), AttemptState.ABSENT, EndReason.UNKNOWN);
    assertThat(holders(LOCK)).containsExactly(attempt);
  }

  @Test
  void givenAtLeast_whenTheHolderIsBroken_thenTheLockIsFreeAtOnce() {
    needs(Capability.AT_LEAST);
    SessionDriver a = session("a");
    AttemptId attempt = a.hold(LOCK, EX, atLeast(LONG)).attempt();
    breakUp(attempt);
    assertFree(LOCK, session("b"));
  }

  @Test
  void givenAtLeast_whenTheHolderIsClosed_thenTheLockIsFreeOnceItGivesUp() {
    needs(Capability.AT_LEAST);
    SessionDriver a = session("a");
    AttemptId attempt = a.hold(LOCK, EX, atLeast(LONG)).attempt();
    close(attempt);
    a.end(LOCK, attempt);
    assertFree(LOCK, session("b"));
  }

  @Test
  void givenLockThatIsShut_whenReopened_thenItIsFree() {
    needs(Capability.AT_LEAST);
    SessionDriver a = session("a");
    Reply.Granted hold = a.hold(LOCK, EX, atLeast(LONG));
    a.end(LOCK, hold.attempt());
    assertThat(look(LOCK).orElseThrow().shutFor()).isPositive();

    assertThat(BoundedWait.join(store().reopen(LOCK))).isTrue();

    assertThat(BoundedWait.join(store().reopen(LOCK))).as("once").isFalse();
    assertThat(holders(LOCK)).isEmpty();
    Reply.Granted next = session("b").hold(LOCK, EX);
    if (can(Capability.TOKEN)) {
      assertThat(next.token()).isGreaterThan(hold.token());
    }
  }

  @Test
  void givenLockThatACrashLeftShut_whenReopened_thenTheQueueIsServed() {
    needs(Capability.AT_LEAST, Capability.QUEUE);
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    a.hold(LOCK, EX, atLeast(LONG));
    SessionId dead = die(a);
    AttemptId waiter = b.attempt();
    queued(b.take(LOCK, waiter, EX, true, dead));
    assertThat(holders(LOCK)).isEmpty();

    assertThat(BoundedWait.join(store().reopen(LOCK))).isTrue();

    assertThat(holders(LOCK)).containsExactly(waiter);
    assertThat(only(SessionNotification.HoldGranted.class, b.notifications()))
        .extracting(SessionNotification::attempt)
        .containsExactly(waiter);
  }

  @Test
  void givenLockThatIsNotShut_whenReopened_thenNothingHappens() {
    SessionDriver a = session("a");
    assertThat(BoundedWait.join(store().reopen(LOCK))).isFalse();
    assertThat(look(LOCK)).isEmpty();
    AttemptId attempt = a.hold(LOCK, EX).attempt();
    assertThat(BoundedWait.join(store().reopen(LOCK))).isFalse();
    assertThat(holders(LOCK)).containsExactly(attempt);
    assertThat(a.notifications()).isEmpty();
  }

  @Test
  void givenReadersAndOneWhoKeepsTheLockShut_whenReopened_thenTheOthersStandWithTheirTimes() {
    needs(Capability.SHARED, Capability.AT_LEAST);
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    AttemptId gone = a.hold(LOCK, SH, atLeast(LONG)).attempt();
    AttemptId stays = a.hold(LOCK, SH, atLeast(LONG)).attempt();
    a.end(LOCK, gone);
    busy(b.acquire(LOCK, b.attempt(), SH));
    assertThat(BoundedWait.join(store().reopen(LOCK))).isTrue();
    b.end(LOCK, b.hold(LOCK, SH).attempt());
    a.end(LOCK, stays);
    busy(b.acquire(LOCK, b.attempt(), SH));
  }

  @Test
  void givenReaders_whenOneIsBroken_thenTheOthersStand() {
    needs(Capability.SHARED);
    SessionDriver a = session("a");
    AttemptId first = a.hold(LOCK, SH).attempt();
    AttemptId second = a.hold(LOCK, SH).attempt();
    breakUp(first);
    assertThat(holders(LOCK)).containsExactly(second);
  }
}
