package io.mortise.testkit.contract.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.HoldTerms;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.AttemptState;
import io.mortise.spi.Reply.EndReason;
import io.mortise.spi.Reply.RefusalReason;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.testkit.RecordingConsumer;
import io.mortise.testkit.SessionDriver;
import io.mortise.testkit.StoreUnderTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** First come, first served; a contender serves the head; a cancelled waiter leaves no trace. */
class QueueSuite extends StoreSuite {
  /** Earlier than all other ends, and later than the end of any test. */
  private static final Duration SOON = Duration.ofSeconds(30);

  /** More waiters than one document of a store of documents has. */
  private static final int MANY = 70;

  QueueSuite(StoreUnderTest under) {
    super(under);
  }

  @BeforeEach
  void needsQueue() {
    needs(Capability.QUEUE);
  }

  @Test
  void givenWaiters_whenTheHolderReleases_thenTheyHoldInTheOrderInWhichTheyCame() {
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    SessionDriver c = session("c");
    AttemptId first = a.hold(LOCK, EX).attempt();
    AttemptId second = b.queued(LOCK, EX);
    AttemptId third = c.queued(LOCK, EX);
    AttemptId fourth = b.queued(LOCK, EX);
    assertThat(waiters(LOCK)).containsExactly(second, third, fourth);

    a.end(LOCK, first);
    assertThat(holders(LOCK)).containsExactly(second);
    assertThat(only(SessionNotification.HoldGranted.class, b.notifications()))
        .extracting(SessionNotification::attempt)
        .containsExactly(second);
    granted(b.enqueue(LOCK, second, EX));
    b.end(LOCK, second);
    assertThat(holders(LOCK)).containsExactly(third);
    c.end(LOCK, third);
    assertThat(holders(LOCK)).containsExactly(fourth);
    b.end(LOCK, fourth);
    assertFree(LOCK, a);
  }

  @Test
  void givenWaiter_whenItsAcquireIsSentAgain_thenItKeepsItsPlace() {
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    a.hold(LOCK, EX);
    AttemptId second = b.queued(LOCK, EX);
    AttemptId third = b.queued(LOCK, EX);
    queued(b.enqueue(LOCK, second, EX));
    queued(b.enqueue(LOCK, second, EX));
    assertThat(waiters(LOCK)).containsExactly(second, third);
  }

  @Test
  void givenWaiters_thenEachIsToldHowManyMayBeAheadAndWhenToAskAgain() {
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    AttemptId holder = a.hold(LOCK, EX).attempt();
    for (int i = 0; i < 3; i++) {
      Reply.Queued reply = queued(b.enqueue(LOCK, b.attempt(), EX));
      assertThat(reply.ahead()).isGreaterThanOrEqualTo(i);
      assertThat(inTheWay(reply).attempt()).isEqualTo(holder);
      assertThat(reply.retryAfter()).isBetween(Duration.ofMillis(1), LONG.plusSeconds(1));
    }
  }

  @Test
  void givenWaiterAheadWhoseSessionIsShort_thenTheNextAsksAgainWhenThatMayHaveEnded() {
    needsProofs();
    SessionDriver a = session("a");
    SessionDriver b = session("b", SOON);
    SessionDriver c = session("c");
    a.hold(LOCK, EX);
    AttemptId first = c.queued(LOCK, EX);
    b.queued(LOCK, EX);
    Reply.Queued next = queued(c.enqueue(LOCK, c.attempt(), EX));
    assertThat(next.retryAfter()).isBetween(Duration.ofMillis(1), SOON.plusSeconds(1));
    assertThat(queued(c.enqueue(LOCK, first, EX)).retryAfter())
        .as("who is behind does not count")
        .isGreaterThan(LONG.dividedBy(2));

    b.close();
    assertThat(queued(c.enqueue(LOCK, next.attempt(), EX)).retryAfter())
        .as("nor does who has ended, for he is skipped")
        .isGreaterThan(LONG.dividedBy(2));
  }

  @Test
  void givenSeveralHolders_thenAWaiterAsksAgainWhenTheFirstOfThemMayHaveEnded() {
    needs(Capability.SHARED);
    needsProofs();
    SessionDriver a = session("a");
    SessionDriver b = session("b", SOON);
    SessionDriver c = session("c");
    a.hold(LOCK, SH);
    b.hold(LOCK, SH);
    a.hold(LOCK, SH);
    assertThat(queued(c.enqueue(LOCK, c.attempt(), EX)).retryAfter())
        .isBetween(Duration.ofMillis(1), SOON.plusSeconds(1));
  }

  @Test
  @Tag("cancelled-waiter-leaves-no-trace")
  void givenWaiterThatGaveUp_thenNothingOfItIsLeft_andTheNextIsServed() {
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    SessionDriver c = session("c");
    AttemptId holder = a.hold(LOCK, EX).attempt();
    AttemptId cancelled = b.queued(LOCK, EX);
    AttemptId next = c.queued(LOCK, EX);

    assertEnded(b.end(LOCK, cancelled), AttemptState.WAITING, EndReason.RELEASED);
    assertEnded(b.end(LOCK, cancelled), AttemptState.WAITING, EndReason.RELEASED);
    assertThat(waiters(LOCK)).containsExactly(next);
    a.end(LOCK, holder);

    assertThat(holders(LOCK)).containsExactly(next);
    assertThat(b.notifications()).isEmpty();
    c.end(LOCK, next);
    assertFree(LOCK, b);
  }

  @Test
  @Tag("cancelled-waiter-leaves-no-trace")
  void givenWaiterThatGaveUp_whenItsAcquireArrivesLate_thenItIsRefused() {
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    a.hold(LOCK, EX);
    AttemptId cancelled = b.queued(LOCK, EX);
    b.end(LOCK, cancelled);
    assertRefused(b.enqueue(LOCK, cancelled, EX), RefusalReason.ENDED);
    assertThat(waiters(LOCK)).isEmpty();
  }

  @Test
  void givenWaiterThatWasHandedTheLockMeanwhile_whenItGivesUp_thenItReleasesAndTheNextIsServed() {
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    SessionDriver c = session("c");
    AttemptId holder = a.hold(LOCK, EX).attempt();
    AttemptId second = b.queued(LOCK, EX);
    AttemptId third = c.queued(LOCK, EX);
    a.end(LOCK, holder);
    Reply.Ended ended = b.end(LOCK, second);
    assertThat(ended.how()).isEqualTo(EndReason.RELEASED);
    // A store that serves its queue by itself may not have told the waiter yet.
    assertThat(ended.was())
        .isIn(AttemptState.HELD, proofs() ? AttemptState.HELD : AttemptState.WAITING);
    assertThat(holders(LOCK)).containsExactly(third);
  }

  @Test
  void givenWaiters_whenANewcomerTriesWithoutWaiting_thenItPassesNobody() {
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    SessionDriver c = session("c");
    AttemptId holder = a.hold(LOCK, EX).attempt();
    AttemptId waiter = b.queued(LOCK, EX);
    busy(c.acquire(LOCK, c.attempt(), EX));
    a.end(LOCK, holder);
    busy(c.acquire(LOCK, c.attempt(), EX));
    assertThat(holders(LOCK)).containsExactly(waiter);
  }

  @Test
  void givenDeadWaiters_whenTheHolderReleases_thenTheyAreSkipped() {
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    SessionDriver c = session("c");
    AttemptId holder = a.hold(LOCK, EX).attempt();
    b.queued(LOCK, EX);
    b.queued(LOCK, EX);
    AttemptId live = c.queued(LOCK, EX);
    b.close();
    a.end(LOCK, holder);
    assertThat(holders(LOCK)).containsExactly(live);
    assertThat(waiters(LOCK)).isEmpty();
  }

  @Test
  void givenOnlyDeadWaiters_whenTheHolderReleases_thenTheLockIsFree() {
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    AttemptId holder = a.hold(LOCK, EX).attempt();
    b.queued(LOCK, EX);
    b.close();
    a.end(LOCK, holder);
    assertFree(LOCK, session("c"));
  }

  @Test
  void
      givenTwoHundredDeadWaiters_whenTheHolderReleases_thenItIsAskedToGoOn_andTheLiveOneIsServed() {
    needsProofs();
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    SessionDriver c = session("c");
    AttemptId holder = a.hold(LOCK, EX).attempt();
    RecordingConsumer<Reply> replies = new RecordingConsumer<>();
    for (int i = 0; i < 200; i++) {
      b.session()
          .submit(
              new Request.Acquire(LOCK, b.attempt(), EX, true, HoldTerms.NONE, 1, 0, null),
              replies);
    }
    assertAll(Reply.Queued.class, replies.await(200));
    AttemptId live = c.queued(LOCK, EX);
    b.close();

    Reply.Ended ended = (Reply.Ended) a.ask(new Request.Abandon(LOCK, holder));
    assertEnded(ended, AttemptState.HELD, EndReason.RELEASED);
    assertThat(ended.more()).as("the first step is bounded").isTrue();
    int steps = 1;
    while (ended.more() && steps < 20) {
      ended = (Reply.Ended) a.ask(new Request.Abandon(LOCK, holder));
      steps++;
    }

    assertThat(steps).isBetween(2, 20);
    assertThat(holders(LOCK)).containsExactly(live);
    assertThat(waiters(LOCK)).isEmpty();
  }

  @Test
  void givenHolderThatDied_whenALaterWaiterBringsTheProof_thenTheHeadIsServedAndNotTheAsker() {
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    SessionDriver c = session("c");
    a.hold(LOCK, EX);
    AttemptId head = b.queued(LOCK, EX);
    AttemptId later = c.queued(LOCK, EX);
    SessionId dead = die(a);

    queued(c.take(LOCK, later, EX, true, dead));

    assertThat(holders(LOCK)).containsExactly(head);
    assertThat(only(SessionNotification.HoldGranted.class, b.notifications()))
        .extracting(SessionNotification::attempt)
        .containsExactly(head);
  }

  @Test
  void givenHolderAndHeadThatDied_whenTheNextBringsTheProof_thenItHolds() {
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    SessionDriver c = session("c");
    a.hold(LOCK, EX);
    b.queued(LOCK, EX);
    AttemptId next = c.queued(LOCK, EX);
    b.close();
    SessionId dead = die(a);
    granted(c.take(LOCK, next, EX, true, dead));
    assertThat(holders(LOCK)).containsExactly(next);
  }

  @Test
  void givenHeadThatIsGrantedByAProof_thenATryWithoutWaitingByTheProverIsBusy() {
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    SessionDriver c = session("c");
    a.hold(LOCK, EX);
    AttemptId head = b.queued(LOCK, EX);
    SessionId dead = die(a);
    busy(c.take(LOCK, c.attempt(), EX, false, dead));
    assertThat(holders(LOCK)).containsExactly(head);
  }

  @Test
  void givenWaiter_whenItsSessionEnds_andALateAcquireArrives_thenItIsRefused() {
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    a.hold(LOCK, EX);
    AttemptId waiter = b.queued(LOCK, EX);
    b.close();
    assertRefused(b.enqueue(LOCK, waiter, EX), RefusalReason.SESSION_GONE);
  }

  /** Queues as many waiters of two processes in turns, and returns them in order. */
  private static List<AttemptId> longQueue(SessionDriver b, SessionDriver c) {
    List<AttemptId> queue = new ArrayList<>();
    for (int i = 0; i < MANY; i++) {
      SessionDriver next = i % 2 == 0 ? b : c;
      AttemptId attempt = next.attempt();
      assertThat(queued(next.enqueue(LOCK, attempt, EX)).ahead()).isGreaterThanOrEqualTo(i);
      queue.add(attempt);
    }
    return queue;
  }

  @Test
  void givenLongQueue_whenEachReleases_thenTheyHoldInTheOrderInWhichTheyCame() {
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    SessionDriver c = session("c");
    AttemptId holder = a.hold(LOCK, EX).attempt();
    List<AttemptId> queue = longQueue(b, c);
    assertThat(waiters(LOCK)).containsExactlyElementsOf(queue);

    a.end(LOCK, holder);
    for (int i = 0; i < MANY; i++) {
      SessionDriver next = i % 2 == 0 ? b : c;
      granted(next.enqueue(LOCK, queue.get(i), EX));
      if (i == MANY / 2) {
        queue.add(a.queued(LOCK, EX));
        assertThat(waiters(LOCK)).containsExactlyElementsOf(queue.subList(i + 1, MANY + 1));
      }
      assertEnded(next.end(LOCK, queue.get(i)), AttemptState.HELD, EndReason.RELEASED);
    }
    assertThat(holders(LOCK)).containsExactly(queue.get(MANY));
    a.end(LOCK, queue.get(MANY));
    assertFree(LOCK, b);
  }

  @Test
  @Tag("cancelled-waiter-leaves-no-trace")
  void givenLongQueue_whenSomeGiveUp_thenNothingOfThemIsLeft_andTheOthersKeepTheirPlaces() {
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    SessionDriver c = session("c");
    AttemptId holder = a.hold(LOCK, EX).attempt();
    List<AttemptId> queue = longQueue(b, c);
    List<AttemptId> left = new ArrayList<>(queue);
    for (int i : List.of(MANY - 1, 1, MANY / 2, 0, MANY - 2, 3, MANY / 2 + 5)) {
      SessionDriver owner = i % 2 == 0 ? b : c;
      queued(owner.enqueue(LOCK, queue.get(i), EX));
      assertEnded(owner.end(LOCK, queue.get(i)), AttemptState.WAITING, EndReason.RELEASED);
      assertRefused(owner.enqueue(LOCK, queue.get(i), EX), RefusalReason.ENDED);
      left.remove(queue.get(i));
      assertThat(waiters(LOCK)).containsExactlyElementsOf(left);
    }
    a.end(LOCK, holder);
    for (AttemptId next : left) {
      SessionDriver owner = next.session().equals(b.session().id()) ? b : c;
      granted(owner.enqueue(LOCK, next, EX));
      owner.end(LOCK, next);
    }
    assertFree(LOCK, a);
  }

  @Test
  void givenLongQueue_whenAllFit_thenTheyHoldTogether() {
    needs(Capability.SHARED);
    needsProofs();
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    AttemptId holder = a.hold(LOCK, EX).attempt();
    List<AttemptId> queue = new ArrayList<>();
    for (int i = 0; i < MANY; i++) {
      queue.add(b.queued(LOCK, SH));
    }
    a.end(LOCK, holder);
    assertThat(holders(LOCK)).containsExactlyInAnyOrderElementsOf(queue);
    assertThat(waiters(LOCK)).isEmpty();
  }

  @Test
  void givenFreeLock_whenAnAcquireWouldWait_thenItIsGrantedAtOnce() {
    SessionDriver a = session("a");
    granted(a.enqueue(LOCK, a.attempt(), EX));
  }
}
