package io.mortise.recipe.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.DistributedOnce;
import io.mortise.DistributedOnce.OnceResult;
import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.LockException;
import io.mortise.LockName;
import io.mortise.internal.runtime.SystemEnv;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.Fact;
import io.mortise.spi.time.Ticker;
import io.mortise.spi.time.WallClock;
import io.mortise.support.memory.MemStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Once, over a store whose answers are lost. */
class EngineOnceTest {
  private static final String KEY = "key";
  private static final LockName NAME = LockName.of("once/" + KEY);

  private final MemStore mem = new MemStore(Ticker.SYSTEM, WallClock.SYSTEM);
  private final LossyStore store = new LossyStore(mem);
  private final LockClient client = LockClient.builder().store(store).build();
  private final DistributedOnce once = client.once(KEY);
  private final List<String> done = new ArrayList<>();

  @AfterEach
  void close() {
    client.close();
  }

  private String run(String result) {
    done.add(result);
    return result;
  }

  private Fact fact() {
    return mem.readFact(NAME).toCompletableFuture().join();
  }

  @Test
  void givenAnswersThatAreLost_thenTheRunKnowsItsOwnWritings() throws Exception {
    store.unanswered = List.of(1, 3);
    OnceResult result = once.run(lease -> run("a"));
    assertThat(result.ranHere()).isTrue();
    assertThat(once.run(lease -> run("never")))
        .isEqualTo(new OnceResult(false, result.value(), result.doneAt(), result.token()));
    assertThat(done).containsExactly("a");
    assertThat(store.replacements).as("two lost, each sent again").hasValue(4);
  }

  @Test
  void givenAnswersThatAreLost_thenAnAsynchronousRunKnowsItsOwnWritings() {
    store.unanswered = List.of(1, 2);
    OnceResult result = once.runAsync(lease -> CompletableFuture.completedFuture(run("a"))).join();
    assertThat(result.ranHere()).isTrue();
    assertThat(once.result()).get().extracting(OnceResult::value).isEqualTo(Optional.of("a"));
    assertThat(done).containsExactly("a");
    assertThat(store.replacements).as("two, whose answers are lost").hasValue(2);
  }

  /** As after a pause of the process, or while a restarted server has not confirmed the hold. */
  @Test
  void givenLeaseThatTellsNoToken_thenAnAsynchronousRunFails() throws Exception {
    LockClient closing = LockClient.builder().store(mem).build();
    Lease lost = closing.lock(NAME.value()).acquire();
    closing.close();
    SystemEnv system = new SystemEnv();
    Recipes recipes =
        new Recipes(
            store,
            system.env(Duration.ofSeconds(30), new ClientLabel("-", 1, "once")),
            () -> {},
            client::lock);
    EngineOnce engineOnce =
        new EngineOnce(recipes, client.lock(NAME.value()), KEY, Duration.ofDays(1));
    OnceRun onceRun =
        new OnceRun(
            recipes,
            engineOnce,
            () -> CompletableFuture.completedFuture(lost),
            lease -> CompletableFuture.completedFuture(run("never")));
    assertThatThrownBy(() -> onceRun.begin().get(20, TimeUnit.SECONDS))
        .hasCauseInstanceOf(LeaseLostException.class);
    assertThat(done).isEmpty();
    system.close();
  }

  @Test
  void givenWritingsThatAreLost_thenTheyAreSentAgain() throws Exception {
    store.dropped = List.of(1, 3, 4);
    assertThat(once.run(lease -> run("a")).value()).contains("a");
    assertThat(once.result()).isPresent();
    assertThat(done).containsExactly("a");
    assertThat(store.replacements).hasValue(5);
  }

  @Test
  void givenAnotherRunThatHasBegun_thenTheFirstStoresNothing() {
    assertThatThrownBy(
            () ->
                once.run(
                    lease -> {
                      String other = OnceDocument.begun("other", 7).encode();
                      mem.replaceFact(NAME, fact().version(), other, Duration.ofMinutes(1));
                      return run("a");
                    }))
        .isInstanceOf(LockException.class)
        .hasMessageContaining("another one has begun")
        .hasMessageContaining("nothing was stored");
    assertThat(once.result()).isEmpty();
    assertThat(OnceDocument.decode(KEY, fact())).contains(OnceDocument.begun("other", 7));
  }

  /** Executes a late step of another run: between this run's read and its first write. */
  private void writeLate(int number, OnceDocument step) {
    if (number == 1) {
      var unused = mem.replaceFact(NAME, fact().version(), step.encode(), Duration.ofMinutes(1));
    }
  }

  @Test
  void givenLateStepOfAnEarlierRun_thenThisOneLooksAgain_andRuns() throws Exception {
    store.before = number -> writeLate(number, OnceDocument.begun("earlier", 0));
    assertThat(once.run(lease -> run("a")).ranHere()).isTrue();
    assertThat(once.result()).get().extracting(OnceResult::value).isEqualTo(Optional.of("a"));
    assertThat(done).containsExactly("a");
    assertThat(store.replacements).as("one in vain").hasValue(3);
  }

  @Test
  void givenLateResultOfAnEarlierRun_thenItCounts_andThisOneDoesNotRun() throws Exception {
    store.before = number -> writeLate(number, OnceDocument.begun("earlier", 0).done("its result"));
    OnceResult result = once.run(lease -> run("never"));
    assertThat(result.ranHere()).isFalse();
    assertThat(result.value()).contains("its result");
    assertThat(done).isEmpty();
  }

  @Test
  void givenLaterRunThatBeganFirst_thenThisOneDoesNotRun() {
    store.before = number -> writeLate(number, OnceDocument.begun("later", Long.MAX_VALUE));
    assertThatThrownBy(() -> once.run(lease -> run("never")))
        .isInstanceOf(LockException.class)
        .hasMessageContaining("has not run");
    assertThat(done).isEmpty();
  }

  @Test
  void givenInterruptThatTheTaskLeft_thenTheResultIsStored_andTheFlagKept() throws Exception {
    OnceResult result =
        once.run(
            lease -> {
              Thread.currentThread().interrupt();
              return run("a");
            });
    assertThat(Thread.interrupted()).isTrue();
    assertThat(result.value()).contains("a");
    assertThat(once.result()).isPresent();
  }

  /** Interrupts the caller when this replacement was sent, and answers it once the caller waits. */
  private void interruptDuring(int replacement) {
    CompletableFuture<Void> answered = new CompletableFuture<>();
    store.answeredWith = Map.of(replacement, answered);
    store.before =
        number -> {
          if (number == replacement) {
            Thread caller = Thread.currentThread();
            caller.interrupt();
            Thread answering =
                new Thread(
                    () -> {
                      awaitWaiting(caller);
                      answered.complete(null);
                    });
            answering.setDaemon(true);
            answering.start();
          }
        };
  }

  private static void awaitWaiting(Thread caller) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (!Set.of(Thread.State.WAITING, Thread.State.TIMED_WAITING).contains(caller.getState())
        && System.nanoTime() - end < 0) {
      LockSupport.parkNanos(1_000_000);
    }
  }

  @Test
  void givenInterruptWhileTheResultIsStored_thenItIsStored_andTheFlagKept() throws Exception {
    interruptDuring(2);
    OnceResult result = once.run(lease -> run("a"));
    assertThat(Thread.interrupted()).isTrue();
    assertThat(result.ranHere()).isTrue();
    assertThat(once.run(lease -> run("never")).value()).contains("a");
    assertThat(done).containsExactly("a");
  }

  @Test
  void givenInterruptBeforeTheTask_thenItIsToldAsDocumented_andTheTaskRunsLater() throws Exception {
    interruptDuring(1);
    assertThatThrownBy(() -> once.run(lease -> run("never")))
        .isInstanceOf(InterruptedException.class);
    assertThat(Thread.interrupted()).isFalse();
    assertThat(done).isEmpty();
    assertThat(once.run(lease -> run("a")).ranHere()).isTrue();
  }

  @Test
  void givenTimesAndKeysOutOfRange_thenTheyAreRefused() {
    assertThatThrownBy(() -> once.keepFor(Duration.ZERO))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> once.keepFor(Duration.ofDays(4000)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> once.run(Duration.ofMillis(-1), lease -> run("never")))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> client.once("x".repeat(508)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(done).isEmpty();
  }

  @Test
  void givenTextOfAnotherVersion_thenItIsRefused() {
    for (String text :
        List.of("2 D run 7 -", "1 D run 7", "1 R run x", "1 X run 7", "1 D run 7 =%", "1")) {
      assertThatThrownBy(() -> OnceDocument.decode(KEY, new Fact(1, text)))
          .as(text)
          .isInstanceOf(LockException.class);
    }
    OnceDocument longest =
        OnceDocument.begun("r".repeat(36), Long.MAX_VALUE)
            .done("x".repeat(DistributedOnce.MAX_RESULT_BYTES));
    assertThat(longest.encode().length()).isLessThan(Fact.MAX_CHARS);
    assertThat(OnceDocument.decode(KEY, new Fact(1, longest.encode()))).contains(longest);
  }
}
