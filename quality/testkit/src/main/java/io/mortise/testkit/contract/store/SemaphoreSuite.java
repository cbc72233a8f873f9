package io.mortise.testkit.contract.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.HoldTerms;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply.AttemptState;
import io.mortise.spi.Reply.EndReason;
import io.mortise.spi.Reply.RefusalReason;
import io.mortise.spi.SessionId;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.SessionDriver;
import io.mortise.testkit.StoreUnderTest;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Permits are taken k at a time or not at all, and never more than there are. */
class SemaphoreSuite extends StoreSuite {
  SemaphoreSuite(StoreUnderTest under) {
    super(under);
  }

  @BeforeEach
  void needsPermits() {
    needs(Capability.PERMITS);
  }

  private static Mode permits(int count) {
    return Mode.permits(count, 3);
  }

  /**
   * Asserts that the waiter was served. A store that serves its queue by itself may take its time.
   */
  private void assertServed(AttemptId waiter) {
    BoundedWait.until(
        BoundedWait.ANSWER,
        "the waiter was served",
        () -> proofs() || holders(LOCK).equals(List.of(waiter)));
    assertThat(holders(LOCK)).containsExactly(waiter);
  }

  @Test
  @Tag("exclusion")
  void givenThreePermits_thenNeverMoreThanThreeAreHeld() {
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    AttemptId two = a.hold(LOCK, permits(2)).attempt();
    busy(b.acquire(LOCK, b.attempt(), permits(2)));
    AttemptId one = b.hold(LOCK, permits(1)).attempt();
    busy(b.acquire(LOCK, b.attempt(), permits(1)));
    a.end(LOCK, two);
    busy(a.acquire(LOCK, a.attempt(), permits(3)));
    AttemptId again = a.hold(LOCK, permits(2)).attempt();
    assertThat(holders(LOCK)).containsExactlyInAnyOrder(one, again);
  }

  @Test
  void givenWaiterForAllPermits_thenSmallRequestsDoNotPassIt() {
    needs(Capability.QUEUE);
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    AttemptId one = a.hold(LOCK, permits(1)).attempt();
    AttemptId all = b.queued(LOCK, permits(3));
    AttemptId small = a.queued(LOCK, permits(1));
    busy(a.acquire(LOCK, a.attempt(), permits(1)));
    a.end(LOCK, one);
    assertServed(all);
    b.end(LOCK, all);
    assertServed(small);
  }

  @Test
  void givenSeveralWaiters_whenManyPermitsReturn_thenAllThatFitAreServed() {
    needs(Capability.QUEUE);
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    AttemptId all = a.hold(LOCK, permits(3)).attempt();
    AttemptId first = b.queued(LOCK, permits(1));
    AttemptId second = b.queued(LOCK, permits(2));
    AttemptId third = b.queued(LOCK, permits(1));
    a.end(LOCK, all);
    // A store that serves its queue by itself may take its time.
    BoundedWait.until(
        BoundedWait.ANSWER, "two were served", () -> proofs() || holders(LOCK).size() == 2);
    assertThat(holders(LOCK)).containsExactlyInAnyOrder(first, second);
    assertThat(waiters(LOCK)).containsExactly(third);
  }

  @Test
  void givenPermitsOfADeadProcess_whenTheyAreProven_thenTheyReturn() {
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    a.hold(LOCK, permits(1));
    a.hold(LOCK, permits(2));
    SessionId dead = die(a);
    granted(b.take(LOCK, b.attempt(), permits(3), false, dead));
  }

  @Test
  void givenSemaphore_whenAnotherCapacityIsAsked_thenItIsRefusedAndNothingIsWritten() {
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    AttemptId held = a.hold(LOCK, permits(1)).attempt();
    AttemptId wrong = b.attempt();
    assertRefused(b.acquire(LOCK, wrong, Mode.permits(1, 4)), RefusalReason.CAPACITY_DIFFERS);
    assertRefused(b.acquire(LOCK, wrong, EX), RefusalReason.CAPACITY_DIFFERS);
    assertThat(holders(LOCK)).containsExactly(held);
    assertThat(waiters(LOCK)).isEmpty();
    assertThat(look(LOCK).orElseThrow().permits()).hasValue(3);
    assertThat(a.notifications()).isEmpty();
    assertEnded(b.end(LOCK, wrong), AttemptState.ABSENT, EndReason.UNKNOWN);
    b.hold(LOCK, permits(2));
  }

  @Test
  void givenSemaphore_whenAnotherCapacityWouldQueue_thenItIsRefusedAndNotQueued() {
    needs(Capability.QUEUE);
    SessionDriver a = session("a");
    a.hold(LOCK, permits(3));
    assertRefused(a.enqueue(LOCK, a.attempt(), Mode.permits(1, 4)), RefusalReason.CAPACITY_DIFFERS);
    assertThat(waiters(LOCK)).isEmpty();
  }

  @Test
  void givenLock_whenPermitsAreAsked_thenItIsRefusedAndTheLockStands() {
    SessionDriver a = session("a");
    AttemptId held = a.hold(LOCK, EX).attempt();
    assertRefused(a.acquire(LOCK, a.attempt(), permits(1)), RefusalReason.CAPACITY_DIFFERS);
    assertRefused(
        a.adjust(LOCK, held, permits(3), HoldTerms.NONE, 0), RefusalReason.CAPACITY_DIFFERS);
    assertThat(holders(LOCK)).containsExactly(held);
  }

  @Test
  void givenHolderOfAllPermits_whenItGivesSomeBack_thenAWaiterGetsThem() {
    needs(Capability.DOWNGRADE, Capability.QUEUE);
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    AttemptId all = a.hold(LOCK, permits(3)).attempt();
    AttemptId waiter = b.queued(LOCK, permits(2));
    granted(a.adjust(LOCK, all, permits(2), HoldTerms.NONE, 0));
    assertThat(waiters(LOCK)).containsExactly(waiter);
    granted(a.adjust(LOCK, all, permits(1), HoldTerms.NONE, 0));
    assertThat(holders(LOCK)).containsExactlyInAnyOrder(all, waiter);
    assertRefused(a.adjust(LOCK, all, permits(2), HoldTerms.NONE, 0), RefusalReason.UNSUPPORTED);
    busy(b.acquire(LOCK, b.attempt(), permits(1)));
  }
}
