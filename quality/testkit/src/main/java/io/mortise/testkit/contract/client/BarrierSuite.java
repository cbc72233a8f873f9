package io.mortise.testkit.contract.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.LockException;
import io.mortise.LockTimeoutException;
import io.mortise.UnsupportedByStoreException;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.admin.LockQuery;
import io.mortise.recipe.BarrierBrokenException;
import io.mortise.recipe.BarrierBrokenException.Reason;
import io.mortise.recipe.DistributedBarrier;
import io.mortise.recipe.DistributedBarrier.Passage;
import io.mortise.spi.Capability;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.RerunIfPaused;
import io.mortise.testkit.StoreLink;
import io.mortise.testkit.StoreUnderTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** A barrier at which several processes meet. */
class BarrierSuite extends ClientSuite {
  private static final String NAME = "round ü";
  private static final String DOOR = "barrier/" + NAME;

  /** Tells a party that timed out before it arrived; the others do not learn of it. */
  private static final String NOT_ARRIVED = "It is not broken";

  BarrierSuite(StoreUnderTest under) {
    super(under);
  }

  private DistributedBarrier barrier(Peer process, int parties) {
    return process.client().barrier(NAME, parties);
  }

  private DistributedBarrier barrier(String process, int parties) {
    return barrier(peer(process), parties);
  }

  /**
   * The locks of the barrier that are held or waited for: one for each present party. A store of
   * several parts may have granted one to a party whose session ended there last; the next request
   * finds it free.
   */
  private List<LockInfo> places() {
    return BoundedWait.join(store().inspect(LockQuery.all())).items().stream()
        .filter(view -> view.name().startsWith(DOOR + "/"))
        .filter(
            view ->
                view.holders().stream().anyMatch(BarrierSuite::lives) || !view.waiters().isEmpty())
        .toList();
  }

  private static boolean lives(LockParticipant holder) {
    return !holder.isGone();
  }

  private void awaitParties(int count) {
    BoundedWait.until(
        LONG,
        count + " parties wait",
        () ->
            places().stream()
                        .filter(view -> view.holders().stream().anyMatch(BarrierSuite::lives))
                        .count()
                    == count
                && holders(DOOR).isEmpty());
  }

  private void assertNobodyLeft() {
    if (under.listsLocks()) {
      BoundedWait.until(LONG, "nobody holds a place", () -> places().isEmpty());
    }
    assertNothingLeft(DOOR);
  }

  private static void assertBroken(Future<?> party, Reason reason) {
    assertThat(failure(party))
        .isInstanceOfSatisfying(
            BarrierBrokenException.class, broken -> assertThat(broken.reason()).isEqualTo(reason))
        .hasMessageContaining("'" + NAME + "'");
  }

  @Test
  void givenStoreWithoutFacts_thenABarrierIsRefusedByName() {
    Assumptions.assumeFalse(can(Capability.FACTS), "the store has facts");
    DistributedBarrier barrier = barrier("a", 2);
    assertThatThrownBy(() -> barrier.await(LONG))
        .isInstanceOf(UnsupportedByStoreException.class)
        .hasMessageContaining("FACTS");
    assertNobodyLeft();
  }

  @Test
  void givenCallersAtOneTime_thenEachGenerationHasItsNumberOfParties() {
    needs(Capability.FACTS);
    List<DistributedBarrier> processes =
        List.of(barrier("a", 4), barrier("b", 4), barrier("c", 4), barrier("d", 4));
    List<Future<Long>> callers = new ArrayList<>();
    for (int i = 0; i < 16; i++) {
      DistributedBarrier barrier = processes.get(i % 4);
      callers.add(i % 2 == 0 ? start(() -> barrier.await(LONG)) : barrier.awaitAsync(LONG));
    }
    Map<Long, Integer> sizes = new TreeMap<>();
    callers.forEach(caller -> sizes.merge(get(caller), 1, Integer::sum));
    assertThat(sizes).hasSize(4);
    assertThat(sizes.values()).containsOnly(4);
    assertNobodyLeft();
  }

  @Test
  void givenTwoParties_thenNoneIsARoundAhead() {
    needs(Capability.FACTS);
    int rounds = 5;
    List<AtomicInteger> done = List.of(new AtomicInteger(), new AtomicInteger());
    List<Future<Boolean>> parties = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      AtomicInteger mine = done.get(i);
      AtomicInteger others = done.get(1 - i);
      DistributedBarrier barrier = barrier("p" + i, 2);
      parties.add(
          start(
              () -> {
                boolean together = true;
                for (int round = 1; round <= rounds; round++) {
                  mine.incrementAndGet();
                  long generation = barrier.await();
                  together &= generation == round && others.get() >= round;
                }
                return together;
              }));
    }
    assertThat(parties.stream().map(ClientSuite::get)).containsExactly(true, true);
    assertNobodyLeft();
  }

  @Test
  void givenPartiesThatEnter_thenNoneLeavesBeforeAllWantTo() throws Exception {
    needs(Capability.FACTS);
    DistributedBarrier barrier = barrier("a", 3);
    DistributedBarrier other = barrier("b", 3);
    CompletableFuture<Passage> first = barrier.enterAsync();
    CompletableFuture<Passage> second = other.enterAsync(LONG);
    awaitParties(2);
    assertThat(first).isNotDone();
    assertThat(second).isNotDone();
    Passage third = barrier.enter();
    assertThat(List.of(get(first).index(), get(second).index(), third.index()))
        .containsExactlyInAnyOrder(0, 1, 2);
    assertThat(get(first).generation()).isEqualTo(third.generation());
    CompletableFuture<Void> leaving = get(first).leaveAsync();
    CompletableFuture<Void> leavingToo = get(second).leaveAsync(LONG);
    assertThatThrownBy(() -> get(first).leave()).isInstanceOf(IllegalStateException.class);
    assertThat(leaving).isNotDone();
    third.leave(LONG);
    assertThat(leaving).succeedsWithin(LONG);
    assertThat(leavingToo).succeedsWithin(LONG);
    third.close();
    assertNobodyLeft();
  }

  @Test
  void givenOneParty_thenItPassesAlone() throws Exception {
    needs(Capability.FACTS);
    DistributedBarrier barrier = barrier("a", 1);
    assertThat(barrier.await()).isEqualTo(1);
    try (Passage passage = barrier.enter(LONG)) {
      assertThat(passage.generation()).isEqualTo(2);
      passage.leave();
    }
    assertNobodyLeft();
  }

  /** Arrives, and times out. If the time passes before the arrival, it waits longer. */
  private static void timeOutAt(DistributedBarrier barrier) throws Exception {
    for (Duration wait = BRIEF.multipliedBy(4); ; wait = wait.multipliedBy(4)) {
      try {
        barrier.await(wait);
        return;
      } catch (LockTimeoutException e) {
        if (wait.compareTo(LONG) > 0 || !String.valueOf(e.getMessage()).contains(NOT_ARRIVED)) {
          throw e;
        }
      }
    }
  }

  @Test
  void givenPartyThatTimesOut_thenTheGenerationIsBrokenForAll_andTheNextPasses() throws Exception {
    needs(Capability.FACTS);
    DistributedBarrier barrier = barrier("a", 3);
    DistributedBarrier other = barrier("b", 3);
    Future<Long> waiting = start(other::await);
    awaitParties(1);
    assertThatThrownBy(() -> timeOutAt(barrier))
        .isInstanceOf(LockTimeoutException.class)
        .hasMessageContaining("'" + NAME + "'")
        .hasMessageNotContaining(NOT_ARRIVED);
    assertBroken(waiting, Reason.TIMED_OUT);
    assertNobodyLeft();
    CompletableFuture<Long> first = barrier.awaitAsync();
    CompletableFuture<Long> second = other.awaitAsync();
    long generation = barrier.await(LONG);
    assertThat(get(first)).isEqualTo(generation);
    assertThat(get(second)).isEqualTo(generation);
    assertNobodyLeft();
  }

  @Test
  void givenPartyThatGivesUp_thenTheOthersLearnIt() {
    needs(Capability.FACTS);
    DistributedBarrier barrier = barrier("a", 3);
    DistributedBarrier other = barrier("b", 3);
    CompletableFuture<Long> cancelled = barrier.awaitAsync();
    awaitParties(1);
    Future<Long> waiting = start(other::await);
    awaitParties(2);
    assertThat(cancelled.cancel(false)).isTrue();
    assertBroken(waiting, Reason.CANCELLED);
    assertNobodyLeft();
    List<Thread> blocked = new ArrayList<>();
    Future<Long> interrupted =
        start(
            () -> {
              blocked.add(Thread.currentThread());
              return barrier.await();
            });
    awaitParties(1);
    Future<Long> again = start(other::await);
    awaitParties(2);
    blocked.get(0).interrupt();
    assertThat(failure(interrupted)).isInstanceOf(InterruptedException.class);
    assertBroken(again, Reason.CANCELLED);
    assertNobodyLeft();
  }

  @Test
  void givenClientThatCloses_thenTheOthersLearnIt() {
    needs(Capability.FACTS);
    Peer closing = peer("closing");
    CompletableFuture<Long> left = barrier(closing, 2).awaitAsync();
    awaitParties(1);
    closing.client().close();
    assertThat(failure(left)).isInstanceOf(IllegalStateException.class);
    DistributedBarrier barrier = barrier("a", 3);
    assertThatThrownBy(barrier::await)
        .as("the barrier is remembered with two parties")
        .isInstanceOf(LockException.class)
        .hasMessageContaining("2 parties, not 3");
    assertNobodyLeft();
  }

  @Test
  @RerunIfPaused
  void givenPartyThatDies_thenTheOthersLearnIt_whoeverCameBeforeIt() {
    needs(Capability.FACTS);
    for (boolean first : List.of(true, false)) {
      Peer dying = mortal("dying " + first);
      DistributedBarrier barrier = barrier("a" + first, 3);
      List<CompletableFuture<Long>> waiting = new ArrayList<>();
      if (!first) {
        waiting.add(barrier.awaitAsync());
        awaitParties(1);
      }
      CompletableFuture<Long> dead = barrier(dying, 3).awaitAsync();
      awaitParties(waiting.size() + 1);
      if (first) {
        waiting.add(barrier.awaitAsync());
        awaitParties(2);
      }
      dying.link().set(StoreLink.LinkState.CUT);
      assertBroken(waiting.get(0), Reason.PARTY_LOST);
      dying.link().set(StoreLink.LinkState.UP);
      assertBroken(dead, Reason.PARTY_LOST);
      assertNobodyLeft();
    }
  }

  @Test
  @RerunIfPaused
  void givenPartyThatDiesInside_thenTheOthersDoNotLeave() {
    needs(Capability.FACTS);
    for (int index = 0; index < 2; index++) {
      Peer dying = mortal("dying " + index);
      DistributedBarrier barrier = barrier("a" + index, 2);
      CompletableFuture<Passage> first = (index == 0 ? barrier(dying, 2) : barrier).enterAsync();
      awaitParties(1);
      CompletableFuture<Passage> second = (index == 0 ? barrier : barrier(dying, 2)).enterAsync();
      Passage survivor = get(index == 0 ? second : first);
      Passage dead = get(index == 0 ? first : second);
      assertThat(dead.index()).isEqualTo(index);
      dying.link().set(StoreLink.LinkState.CUT);
      assertBroken(survivor.leaveAsync(), Reason.PARTY_LOST);
      dying.link().set(StoreLink.LinkState.UP);
      assertBroken(dead.leaveAsync(), Reason.PARTY_LOST);
      assertNobodyLeft();
    }
  }

  @Test
  void givenPassageThatIsClosed_orLeftTooLate_thenTheOthersDoNotLeave() throws Exception {
    needs(Capability.FACTS);
    DistributedBarrier barrier = barrier("a", 2);
    CompletableFuture<Passage> first = barrier("b", 2).enterAsync();
    barrier.enter(LONG).close();
    assertBroken(get(first).leaveAsync(), Reason.PARTY_LOST);
    first = barrier("c", 2).enterAsync();
    try (Passage passage = barrier.enter(LONG)) {
      assertThatThrownBy(() -> passage.leave(BRIEF)).isInstanceOf(LockTimeoutException.class);
    }
    assertBroken(get(first).leaveAsync(), Reason.TIMED_OUT);
    assertNobodyLeft();
  }

  @Test
  void givenAnotherNumberOfParties_thenItIsRefused_andTheOthersGoOn() {
    needs(Capability.FACTS);
    DistributedBarrier barrier = barrier("a", 2);
    CompletableFuture<Long> waiting = barrier.awaitAsync();
    awaitParties(1);
    DistributedBarrier other = barrier("b", 3);
    assertThatThrownBy(other::await)
        .isInstanceOf(LockException.class)
        .hasMessageContaining("'" + NAME + "'")
        .hasMessageContaining("2 parties, not 3");
    assertThat(waiting).isNotDone();
    assertThat(get(barrier.awaitAsync())).isEqualTo(get(waiting));
    assertNobodyLeft();
  }
}
