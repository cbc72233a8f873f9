package io.mortise.recipe.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.mortise.LockClient;
import io.mortise.LockName;
import io.mortise.LockTimeoutException;
import io.mortise.StoreUnavailableException;
import io.mortise.admin.LockQuery;
import io.mortise.recipe.BarrierBrokenException;
import io.mortise.recipe.BarrierBrokenException.Reason;
import io.mortise.recipe.DistributedBarrier;
import io.mortise.recipe.DistributedLatch;
import io.mortise.spi.Fact;
import io.mortise.spi.time.Ticker;
import io.mortise.spi.time.WallClock;
import io.mortise.support.memory.MemStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Latches and barriers over a store whose answers are lost. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RecipesTest {
  private static final Duration LONG = Duration.ofSeconds(20);
  private static final Duration ENDED = Duration.ofMinutes(10);
  private static final int ROUNDS = 10;
  private static final Duration ENDS_AT_ONCE = Duration.ofMillis(300);

  private final MemStore mem = new MemStore(Ticker.SYSTEM, WallClock.SYSTEM);
  private final LossyStore store = new LossyStore(mem);
  private final LockClient client = LockClient.builder().store(store).build();
  private final DistributedLatch latch = client.latch("l", 3);
  private final DistributedBarrier barrier = client.barrier("b", 2);

  @AfterEach
  void close() {
    client.close();
  }

  private static <T> T get(CompletableFuture<T> future) {
    return future.orTimeout(LONG.toSeconds(), TimeUnit.SECONDS).join();
  }

  @Test
  void givenNull_thenItIsRefused() {
    refuses("key", () -> client.once(null));
    refuses("keep", () -> client.once("a").keepFor(null));
    refuses("task", () -> client.once("a").run(null));
    refuses("task", () -> client.once("a").run(Duration.ZERO, null));
    refuses("wait", () -> client.once("a").run(null, lease -> ""));
  }

  private static void refuses(String parameter, ThrowingCallable call) {
    assertThatNullPointerException().isThrownBy(call).withMessage(parameter);
  }

  @Test
  void givenCountWhoseAnswerIsLost_thenItIsNotCountedAgain() throws Exception {
    store.unanswered = List.of(1, 2);
    assertThat(latch.countDown("a")).isEqualTo(2);
    assertThat(latch.countDown()).isEqualTo(1);
    store.dropped = List.of(3, 4);
    assertThat(latch.countDown("b")).isZero();
    assertThat(latch.countDown("b")).isZero();
    assertThat(store.replacements).as("two lost and two dropped").hasValue(5);
  }

  @Test
  void givenLateRequestOfTheFirstCount_whenTheLatchWasDeletedMeanwhile_thenItBeginsNoOther()
      throws Exception {
    store.dropped = List.of(1);
    assertThat(latch.countDown("a")).isEqualTo(2);
    assertThat(latch.delete()).isTrue();
    assertThat(store.kept.get(LockName.of("latch/l")))
        .as("longer than a request is in flight")
        .isGreaterThan(Duration.ofMinutes(1));
    store.late.forEach(Runnable::run);
    assertThat(latch.remaining()).isEqualTo(3);
    assertThat(latch.countDown("b")).isEqualTo(2);
    store.late.forEach(Runnable::run);
    assertThat(latch.remaining()).isEqualTo(2);
  }

  /**
   * Two latches with one text look alike to a waiter, although the first was deleted in between.
   */
  @Test
  void givenCountThatIsSentAgain_whenThereIsStillNoLatch_thenItBeginsAnother() throws Exception {
    store.dropped = List.of(1);
    assertThat(latch.countDown("a")).isEqualTo(2);
    assertThat(store.texts).hasSize(2).doesNotHaveDuplicates();
  }

  @Test
  void givenStoreThatGoesOnFailing_thenTheCountFails() {
    store.dropped = List.of(1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
    assertThatThrownBy(() -> latch.countDown("a")).isInstanceOf(StoreUnavailableException.class);
    assertThat(store.replacements).hasValue(9);
  }

  @Test
  void givenArrivalWhoseAnswerIsLost_thenItIsOneParty() throws Exception {
    store.unanswered = List.of(1, 2, 3);
    CompletableFuture<Long> first = barrier.awaitAsync();
    CompletableFuture<Long> second = barrier.awaitAsync();
    assertThat(get(first)).isEqualTo(1);
    assertThat(get(second)).isEqualTo(1);
    CompletableFuture<DistributedBarrier.Passage> entered = barrier.enterAsync();
    DistributedBarrier.Passage passage = barrier.enter();
    store.unanswered = List.of(store.replacements.get() + 1, store.replacements.get() + 2);
    CompletableFuture<Void> leaving = passage.leaveAsync();
    get(entered).leave();
    get(leaving);
  }

  @Test
  void givenArrivalThatCannotBeWritten_thenItFails_andTheNextPartyIsNotAhead() throws Exception {
    store.dropped = List.of(1, 2, 3, 4, 5, 6, 7, 8, 9);
    assertThatThrownBy(barrier::await).isInstanceOf(StoreUnavailableException.class);
    CompletableFuture<Long> first = barrier.awaitAsync();
    assertThatThrownBy(() -> first.orTimeout(300, TimeUnit.MILLISECONDS).join())
        .as("the next party waits")
        .isInstanceOf(CompletionException.class)
        .hasCauseInstanceOf(TimeoutException.class);
  }

  @Test
  void givenManyGenerations_thenAllPass() {
    for (long generation = 1; generation <= 20; generation++) {
      long expected = generation;
      List<CompletableFuture<Long>> parties = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        parties.add(barrier.awaitAsync(LONG));
      }
      parties.forEach(party -> assertThat(get(party)).isEqualTo(expected));
    }
  }

  @Test
  void givenCancelledArrivals_thenNothingHolds_andTheBarrierGoesOn() throws Exception {
    for (int round = 0; round < 50; round++) {
      CompletableFuture<Long> party = barrier.awaitAsync();
      long began = System.nanoTime();
      while (System.nanoTime() - began < round * 1_000L) { // Spreads the rounds over all steps.
        Thread.onSpinWait();
      }
      if (!party.cancel(false)) {
        assertThat(round).as("a cancelled arrival before this one").isPositive();
        assertMetCancelled(party);
      }
    }
    awaitNobodyInside();
    CompletableFuture<Long> first = barrier.awaitAsync();
    CompletableFuture<Long> second = barrier.awaitAsync();
    assertThat(get(first)).isEqualTo(get(second));
    awaitNobodyInside();
  }

  /** The arrival before this one was being written when it was cancelled. */
  private static void assertMetCancelled(CompletableFuture<Long> party) {
    if (party.isCompletedExceptionally()) {
      assertBroken(party, Reason.CANCELLED);
    } else {
      assertThat(party).as("passed with it").isCompleted();
    }
  }

  /** Cancelled entries are over then: each has held a lock until the others knew. */
  private void awaitNobodyInside() throws InterruptedException {
    while (client.admin().list(LockQuery.all()).items().stream()
        .anyMatch(lock -> !lock.holders().isEmpty())) {
      Thread.sleep(5);
    }
  }

  @Test
  void givenGenerationThatHasEnded_orWasLeft_thenItsDocumentIsKeptForMinutes() throws Exception {
    CompletableFuture<DistributedBarrier.Passage> first = barrier.enterAsync();
    DistributedBarrier.Passage second = barrier.enter();
    CompletableFuture<Void> leaving = writing(3, get(first)::leaveAsync);
    assertThat(leaving).isNotDone();
    second.leave();
    get(leaving);
    assertThat(store.kept).as("entering and leaving").hasSize(2);
    assertThat(store.kept.values()).containsOnly(ENDED);
  }

  @Test
  void givenOwnTimeoutWhoseAnswerIsLost_thenItIsToldAsATimeout() throws Exception {
    Duration wait = Duration.ofMillis(100);
    // In about half of the rounds the poll sees it first.
    for (int round = 0; round < ROUNDS; ) {
      DistributedBarrier missed = client.barrier("b" + store.replacements.get(), 2);
      int lost = store.replacements.get() + 2;
      store.unanswered = List.of(lost);
      Duration within = wait;
      Throwable failure = catchThrowable(() -> missed.await(within));
      assertThat(failure).isInstanceOf(LockTimeoutException.class);
      if (store.replacements.get() < lost) {
        // It has not entered in this time.
        wait = wait.multipliedBy(2);
      } else {
        assertThat(failure).hasMessageContaining("broken for all");
        round++;
      }
    }
  }

  /** The outcome of a thread's work. */
  private record Ended(@Nullable Throwable failure, boolean interrupted) {}

  /** Interrupts a thread while that replacement of a document is in flight. */
  private Ended interruptedWhileWriting(int number, Callable<?> work) throws Exception {
    AtomicReference<Ended> ended = new AtomicReference<>();
    Thread thread =
        new Thread(
            () -> {
              Throwable failure = null;
              try {
                work.call();
              } catch (Exception e) {
                failure = e;
              }
              ended.set(new Ended(failure, Thread.currentThread().isInterrupted()));
            });
    store.before =
        next -> {
          if (next == number) {
            thread.interrupt();
            try {
              thread.join(ENDS_AT_ONCE.toMillis()); // The thread must not end before the write has.
            } catch (InterruptedException e) {
              throw new AssertionError(e);
            }
          }
        };
    thread.start();
    thread.join(LONG.toMillis());
    store.before = next -> {};
    assertThat(ended).as("the thread has ended").hasValueMatching(value -> value != null);
    return ended.get();
  }

  @Test
  void givenInterruptWhileTheLastArrivalIsWritten_thenThePartyPassesAsTheOthers() throws Exception {
    CompletableFuture<DistributedBarrier.Passage> first = writing(1, barrier::enterAsync);
    AtomicReference<DistributedBarrier.Passage> second = new AtomicReference<>();
    Ended entering =
        interruptedWhileWriting(
            2,
            () -> {
              second.set(barrier.enter());
              return null;
            });
    assertThat(entering).isEqualTo(new Ended(null, true));
    second.get().close();
    first.join().close();
  }

  @Test
  void givenInterruptWhileTheLastLeavingIsWritten_thenNobodyLeaves() throws Exception {
    CompletableFuture<DistributedBarrier.Passage> first = barrier.enterAsync();
    DistributedBarrier.Passage second = barrier.enter();
    CompletableFuture<Void> firstLeaves = writing(3, get(first)::leaveAsync);
    Ended leaving =
        interruptedWhileWriting(
            4,
            () -> {
              second.leave();
              return null;
            });
    assertThat(leaving.failure()).isInstanceOf(InterruptedException.class);
    assertBroken(firstLeaves, Reason.CANCELLED);
  }

  @Test
  void givenInterruptWhileAnArrivalIsWrittenThatIsNotTheLast_thenTheGenerationIsBroken()
      throws Exception {
    DistributedBarrier three = client.barrier("three", 3);
    CompletableFuture<Long> first = writing(1, three::awaitAsync);
    Ended ended = interruptedWhileWriting(2, three::await);
    assertThat(ended.failure()).isInstanceOf(InterruptedException.class);
    assertBroken(first, Reason.CANCELLED);
  }

  private static void assertBroken(CompletableFuture<?> party, Reason reason) {
    assertThatThrownBy(() -> get(party))
        .cause()
        .isInstanceOfSatisfying(
            BarrierBrokenException.class, broken -> assertThat(broken.reason()).isEqualTo(reason));
  }

  /** Begins the work, and waits until that replacement of a document is executed. */
  private <T> CompletableFuture<T> writing(int number, Supplier<CompletableFuture<T>> work) {
    CompletableFuture<Integer> reached = new CompletableFuture<>();
    store.after =
        next -> {
          if (next == number) {
            reached.complete(next);
          }
        };
    CompletableFuture<T> begun = work.get();
    assertThat(get(reached)).isEqualTo(number);
    return begun;
  }

  @Test
  void givenOtherText_thenItIsRefused() {
    var unused = mem.replaceFact(LockName.of("latch/l"), 0, "not ours", LONG);
    var unusedToo = mem.replaceFact(LockName.of("barrier/b"), 0, "not ours", LONG);
    assertThatThrownBy(latch::await).hasMessageContaining("latch 'l'");
    assertThatThrownBy(() -> latch.countDown("a")).hasMessageContaining("latch 'l'");
    assertThatThrownBy(barrier::await).hasMessageContaining("barrier 'b'");
  }

  @Test
  void givenNumbersAndNamesOutOfRange_thenTheyAreRefused() {
    for (int parties : List.of(0, -1, 1001)) {
      assertThatThrownBy(() -> client.latch("l", parties))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> client.barrier("b", parties))
          .isInstanceOf(IllegalArgumentException.class);
    }
    assertThatThrownBy(() -> client.latch("x".repeat(507), 1))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> client.barrier("x".repeat(451), 1))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> latch.countDown("")).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> latch.keepFor(Duration.ofSeconds(9)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> latch.await(Duration.ofMillis(-1)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> barrier.await(Duration.ofMillis(-1)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(mem.readFact(LockName.of("latch/l")).toCompletableFuture().join())
        .isEqualTo(Fact.NONE);
  }

  @Test
  void givenLongestNameOfABarrier_thenItsPlacesHaveNames() throws Exception {
    assertThat(client.barrier("x".repeat(450), 1).await(LONG)).isEqualTo(1);
  }
}
