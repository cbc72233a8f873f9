package io.mortise.testkit.contract.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.LockException;
import io.mortise.LockName;
import io.mortise.UnsupportedByStoreException;
import io.mortise.recipe.DistributedLatch;
import io.mortise.spi.Capability;
import io.mortise.spi.Fact;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.StoreLink;
import io.mortise.testkit.StoreUnderTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** A latch that several processes count down. */
class LatchSuite extends ClientSuite {
  private static final String NAME = "migration ü";

  /** Longer than the pause between two reads of a wait. */
  private static final Duration LONGEST_PAUSE = Duration.ofMillis(700);

  private static final LockName FACT = LockName.of("latch/" + NAME);

  LatchSuite(StoreUnderTest under) {
    super(under);
  }

  private DistributedLatch latch(String process, int parties) {
    return peer(process).client().latch(NAME, parties);
  }

  private static Future<?> waiting(LatchSuite suite, DistributedLatch latch) {
    return suite.start(
        () -> {
          latch.await();
          return true;
        });
  }

  /**
   * Asserts that this process reads nothing, for longer than the longest pause between two reads,
   * while a wait of another process reads.
   */
  private void assertReadsNothing(StoreLink link) {
    Peer other = peer("control");
    CompletableFuture<Void> control = other.client().latch(NAME, 1).awaitAsync();
    BoundedWait.until(LONG, "the control reads", () -> other.link().factReads() >= 3);
    long before = link.factReads();
    long beganNanos = System.nanoTime();
    BoundedWait.until(
        LONG,
        "the control goes on reading",
        () -> other.link().factReads() >= 10 && elapsed(beganNanos).compareTo(LONGEST_PAUSE) > 0);
    assertThat(link.factReads()).as("reads of waits that have ended").isEqualTo(before);
    assertThat(before).as("reads of these waits before that").isPositive();
    control.cancel(false);
  }

  /** Lets the stored data expire. */
  private void expire() {
    Fact present = BoundedWait.join(store().readFact(FACT));
    long written =
        BoundedWait.join(
            store().replaceFact(FACT, present.version(), present.content(), Duration.ofMillis(1)));
    assertThat(written).isPositive();
    BoundedWait.until(
        LONG, "it expires", () -> BoundedWait.join(store().readFact(FACT)).equals(Fact.NONE));
  }

  @Test
  void givenStoreWithoutFacts_thenALatchIsRefusedByName() {
    Assumptions.assumeFalse(can(Capability.FACTS), "the store has facts");
    DistributedLatch latch = latch("a", 2);
    assertThatThrownBy(() -> latch.countDown("a"))
        .isInstanceOf(UnsupportedByStoreException.class)
        .hasMessageContaining("FACTS");
    assertThatThrownBy(latch::await).isInstanceOf(UnsupportedByStoreException.class);
    assertThatThrownBy(() -> latch.await(LONG)).isInstanceOf(UnsupportedByStoreException.class);
    assertThat(latch.awaitAsync()).failsWithin(LONG);
    assertThat(latch.awaitAsync(LONG)).failsWithin(LONG);
    assertThat(latch.countDownAsync()).failsWithin(LONG);
  }

  @Test
  void givenPartiesAtOneTime_thenEachCountsOnce_andAllWaitersPass() {
    needs(Capability.FACTS);
    List<DistributedLatch> processes =
        List.of(latch("a", 16), latch("b", 16), latch("c", 16), latch("d", 16));
    List<Future<?>> waiters = new ArrayList<>();
    processes.forEach(latch -> waiters.add(waiting(this, latch)));
    CompletableFuture<Void> told = processes.get(0).awaitAsync();
    List<Future<Integer>> counts = new ArrayList<>();
    for (int i = 0; i < 15; i++) {
      String party = "party " + i;
      for (int twice = 0; twice < 2; twice++) {
        DistributedLatch latch = processes.get((i + twice) % 4);
        counts.add(start(() -> latch.countDown(party)));
      }
    }
    counts.forEach(ClientSuite::get);
    assertThat(get(start(processes.get(1)::remaining))).isEqualTo(1);
    assertThat(told).isNotDone();
    assertThat(waiters).noneMatch(Future::isDone);
    assertThat(get(start(() -> processes.get(2).countDown("party 15")))).isZero();
    waiters.forEach(ClientSuite::get);
    assertThat(told).succeedsWithin(LONG);
    assertThat(get(start(() -> processes.get(3).countDown("late")))).isZero();
  }

  @Test
  void givenUnnamedParties_thenEachCallCounts() throws Exception {
    needs(Capability.FACTS);
    DistributedLatch latch = latch("a", 2);
    assertThat(latch.remaining()).isEqualTo(2);
    assertThat(latch.await(Duration.ZERO)).isFalse();
    assertThat(latch.countDown()).isEqualTo(1);
    assertThat(latch.await(BRIEF)).isFalse();
    assertThat(latch("b", 2).countDown()).isZero();
    assertThat(latch.await(Duration.ZERO)).isTrue();
    assertThat(latch.await(LONG)).isTrue();
    latch.await();
    assertThat(latch.awaitAsync()).succeedsWithin(LONG);
  }

  @Test
  void givenUnnamedPartiesWithoutThreads_thenEachCallCounts_andATimedWaitSaysWhetherItIsOpen() {
    needs(Capability.FACTS);
    DistributedLatch latch = latch("a", 2);
    assertThatThrownBy(() -> latch.awaitAsync(Duration.ofMillis(-1)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(get(latch.awaitAsync(Duration.ZERO))).isFalse();
    assertThat(get(latch.awaitAsync(BRIEF))).isFalse();
    assertThat(get(latch.countDownAsync())).isEqualTo(1);
    CompletableFuture<Boolean> waiter = latch.awaitAsync(LONG);
    assertThat(get(latch.awaitAsync(BRIEF))).isFalse();
    assertThat(waiter).isNotDone();
    assertThat(get(latch("b", 2).countDownAsync())).isZero();
    assertThat(get(waiter)).isTrue();
    assertThat(get(latch.awaitAsync(Duration.ZERO))).isTrue();
  }

  @Test
  void givenStoreThatIsBackSoon_thenThePartyCountsOnce() throws Exception {
    needs(Capability.FACTS);
    Peer cut = peer("cut");
    DistributedLatch latch = cut.client().latch(NAME, 3);
    DistributedLatch other = latch("other", 3);
    latch.countDown("a");
    cut.link().set(StoreLink.LinkState.REFUSING);
    CompletableFuture<Integer> count = latch.countDownAsync("b");
    CompletableFuture<Integer> again = latch.countDownAsync("b");
    assertThat(other.remaining()).isEqualTo(2);
    cut.link().set(StoreLink.LinkState.UP);
    assertThat(get(count)).isEqualTo(1);
    assertThat(get(again)).isEqualTo(1);
    assertThat(other.countDown("b")).isEqualTo(1);
  }

  @Test
  void givenWaiterThatIsCutOff_thenItSeesTheOpeningAfterThat() throws Exception {
    needs(Capability.FACTS);
    Peer cut = peer("cut");
    Future<?> waiter = waiting(this, cut.client().latch(NAME, 1));
    cut.link().set(StoreLink.LinkState.CUT);
    assertThat(latch("other", 1).countDown("a")).isZero();
    DistributedLatch latch = cut.client().latch(NAME, 1);
    // Long enough for a first look, even on a busy machine.
    CompletableFuture<Boolean> inVain = latch.awaitAsync(Duration.ofSeconds(2));
    assertThatThrownBy(() -> latch.await(Duration.ofSeconds(2))).isInstanceOf(LockException.class);
    assertThat(failure(inVain)).isInstanceOf(LockException.class);
    assertThat(waiter.isDone()).isFalse();
    cut.link().set(StoreLink.LinkState.UP);
    get(waiter);
  }

  @Test
  void givenAnotherNumberOfParties_thenItIsRefused() throws Exception {
    needs(Capability.FACTS);
    latch("a", 3).countDown("a");
    DistributedLatch other = latch("b", 4);
    assertThatThrownBy(() -> other.countDown("b"))
        .isInstanceOf(LockException.class)
        .hasMessageContaining("'" + NAME + "'")
        .hasMessageContaining("3 parties, not 4");
    assertThatThrownBy(other::await).isInstanceOf(LockException.class);
    assertThat(latch("c", 3).remaining()).isEqualTo(2);
    assertThat(other.delete()).isTrue();
    assertThat(other.countDown("b")).isEqualTo(3);
  }

  @Test
  void givenWaitThatIsGivenUp_thenNothingIsAskedAnyMore_andNothingStands() throws Exception {
    needs(Capability.FACTS);
    Peer process = peer("a");
    DistributedLatch latch = process.client().latch(NAME, 1);
    CompletableFuture<Void> cancelled = latch.awaitAsync();
    CompletableFuture<Boolean> alsoCancelled = latch.awaitAsync(LONG);
    List<Thread> blocked = new ArrayList<>();
    Future<?> interrupted =
        start(
            () -> {
              blocked.add(Thread.currentThread());
              latch.await();
              return true;
            });
    BoundedWait.until(LONG, "it waits", () -> blocked.size() == 1 && isWaiting(blocked.get(0)));
    assertThat(cancelled.cancel(false)).isTrue();
    assertThat(alsoCancelled.cancel(false)).isTrue();
    blocked.get(0).interrupt();
    assertThat(failure(interrupted)).isInstanceOf(InterruptedException.class);
    assertThat(latch.await(BRIEF)).isFalse();
    assertThat(BoundedWait.join(store().readFact(FACT))).isEqualTo(Fact.NONE);
    assertThat(cancelled).isCancelled();
    assertReadsNothing(process.link());
  }

  @Test
  void givenLatchThatExpires_thenItIsAsIfItHadNeverBeen_andWaitersLearnIt() throws Exception {
    needs(Capability.FACTS);
    DistributedLatch latch = latch("a", 2);
    latch.countDown("a");
    CompletableFuture<Void> waiter = latch.awaitAsync();
    assertThat(latch.await(BRIEF)).isFalse();
    expire();
    assertThat(latch("b", 2).countDown("b")).isEqualTo(1);
    assertThat(waiter).failsWithin(LONG).withThrowableThat().withMessageContaining("expired");
    assertThat(latch.delete()).isTrue();
    assertThat(latch.delete()).isFalse();
    assertThat(latch.remaining()).isEqualTo(2);
  }

  @Test
  void givenClientThatCloses_thenItsWaitsEnd() {
    needs(Capability.FACTS);
    Peer process = peer("a");
    CompletableFuture<Void> waiter = process.client().latch(NAME, 1).awaitAsync();
    Future<?> blocked = waiting(this, process.client().latch(NAME, 1));
    process.client().close();
    assertThat(waiter).failsWithin(LONG);
    assertThat(failure(blocked)).isInstanceOf(IllegalStateException.class);
  }
}
