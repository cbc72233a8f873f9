package io.mortise.testkit.contract.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.DistributedOnce;
import io.mortise.DistributedOnce.OnceResult;
import io.mortise.LeaseLostException;
import io.mortise.LockException;
import io.mortise.LockName;
import io.mortise.LockTimeoutException;
import io.mortise.UnsupportedByStoreException;
import io.mortise.spi.Capability;
import io.mortise.spi.Fact;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.RerunIfPaused;
import io.mortise.testkit.StoreLink;
import io.mortise.testkit.StoreUnderTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** Work that is done once, and the facts that it is built on. */
class OnceSuite extends ClientSuite {
  private static final String KEY = "order/7 ü";
  private static final String KEY_LOCK = "once/" + KEY;
  private static final LockName FACT = LockName.of("some fact");
  private static final Duration KEPT = Duration.ofMinutes(5);

  /** Counts the runs of a task. */
  private final AtomicInteger runs = new AtomicInteger();

  OnceSuite(StoreUnderTest under) {
    super(under);
  }

  private DistributedOnce once(String process) {
    return peer(process).client().once(KEY);
  }

  private String counted(String result) {
    runs.incrementAndGet();
    return result;
  }

  // ---- Facts ----

  private Fact read() {
    return BoundedWait.join(store().readFact(FACT));
  }

  private long replace(long version, String content, Duration keep) {
    return BoundedWait.join(store().replaceFact(FACT, version, content, keep));
  }

  @Test
  void givenFact_thenOnlyTheExpectedVersionIsReplaced_andVersionsRise() {
    needs(Capability.FACTS);
    assertThat(read()).isEqualTo(Fact.NONE);
    assertThat(replace(17, "never", KEPT)).isZero();
    long first = replace(0, "one", KEPT);
    assertThat(first).isPositive();
    assertThat(read()).isEqualTo(new Fact(first, "one"));
    assertThat(replace(0, "never", KEPT)).isZero();
    assertThat(replace(first - 1, "never", KEPT)).isZero();
    long second = replace(first, "two", KEPT);
    assertThat(second).isGreaterThan(first);
    assertThat(replace(first, "never", KEPT)).as("repeated").isZero();
    String longest = "x".repeat(Fact.MAX_CHARS);
    long third = replace(second, longest, KEPT);
    assertThat(read()).isEqualTo(new Fact(third, longest));
  }

  @Test
  void givenFactWhoseTimeIsOver_thenItIsGone_andItsVersionDoesNotComeBack() {
    needs(Capability.FACTS);
    long first = replace(0, "one", Duration.ofMillis(1));
    BoundedWait.until(LONG, "it is gone", () -> read().equals(Fact.NONE));
    assertThat(replace(first, "late", KEPT)).isZero();
    long second = replace(0, "two", KEPT);
    assertThat(second).isGreaterThan(first);
    BoundedWait.join(store().sweep(64));
    assertThat(read()).isEqualTo(new Fact(second, "two"));
  }

  @Test
  void givenReplacementsAtOneTime_thenOneOfThemHappens() {
    needs(Capability.FACTS);
    long version = 0;
    for (int round = 0; round < 5; round++) {
      List<CompletableFuture<Long>> racers = new ArrayList<>();
      for (int i = 0; i < 16; i++) {
        racers.add(store().replaceFact(FACT, version, round + "/" + i, KEPT).toCompletableFuture());
      }
      List<Long> won =
          racers.stream().map(BoundedWait::join).filter(written -> written > 0).toList();
      assertThat(won).hasSize(1);
      version = won.get(0);
      assertThat(read().version()).isEqualTo(version);
    }
  }

  @Test
  void givenStoreWithoutFacts_thenTheyAreRefusedByName() {
    Assumptions.assumeFalse(can(Capability.FACTS), "the store has facts");
    assertThatThrownBy(() -> once("a").run(lease -> counted("never")))
        .isInstanceOf(UnsupportedByStoreException.class)
        .hasMessageContaining("FACTS");
    assertThatThrownBy(() -> once("a").result()).isInstanceOf(UnsupportedByStoreException.class);
    assertThat(runs).hasValue(0);
    assertNothingLeft(KEY_LOCK);
  }

  // ---- Once ----

  @Test
  void givenFirstCaller_thenItsResultIsThatOfAllOthers() throws Exception {
    needs(Capability.FACTS);
    DistributedOnce once = once("a");
    assertThat(once.result()).isEmpty();
    OnceResult first = once.run(lease -> counted("result ü\n" + lease.isValid()));
    assertThat(first.ranHere()).isTrue();
    assertThat(first.value()).contains("result ü\ntrue");
    assertThat(first.token() > 0).isEqualTo(can(Capability.TOKEN));
    OnceResult second = once("b").run(Duration.ZERO, lease -> counted("never"));
    assertThat(second)
        .isEqualTo(new OnceResult(false, first.value(), first.doneAt(), first.token()));
    assertThat(once("c").result()).contains(second);
    assertThat(runs).hasValue(1);
    assertNothingLeft(KEY_LOCK);
  }

  @Test
  void givenCallersAtOneTime_thenOneRuns() {
    needs(Capability.FACTS);
    List<DistributedOnce> processes = List.of(once("a"), once("b"), once("c"), once("d"));
    List<Future<OnceResult>> calls = new ArrayList<>();
    for (int i = 0; i < 16; i++) {
      DistributedOnce once = processes.get(i % 4);
      String result = "by " + i;
      calls.add(start(() -> once.run(lease -> counted(result))));
    }
    List<OnceResult> results = calls.stream().map(ClientSuite::get).toList();
    assertThat(results).filteredOn(OnceResult::ranHere).hasSize(1);
    assertThat(results.stream().map(OnceResult::value).distinct()).hasSize(1);
    assertThat(runs).hasValue(1);
    assertNothingLeft(KEY_LOCK);
  }

  @Test
  @SuppressWarnings("NullAway") // it does not see that the task of the lambda may return null
  void givenTaskThatFails_thenNothingIsStored_andTheNextCallerRuns() throws Exception {
    needs(Capability.FACTS);
    DistributedOnce once = once("a");
    assertThatThrownBy(
            () ->
                once.run(
                    lease -> {
                      throw new IllegalStateException("failed");
                    }))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("failed");
    assertThat(once.result()).isEmpty();
    OnceResult none = once("b").run(lease -> null);
    assertThat(none.ranHere()).isTrue();
    assertThat(none.value()).isEmpty();
    assertThat(once.run(lease -> counted("never")).ranHere()).isFalse();
    assertThat(runs).hasValue(0);
  }

  @Test
  void givenResultTooLong_thenNothingIsStored() throws Exception {
    needs(Capability.FACTS);
    DistributedOnce once = once("a");
    String longest = "ü".repeat(DistributedOnce.MAX_RESULT_BYTES / 2);
    assertThatThrownBy(() -> once.run(lease -> counted(longest + "x")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("4097 bytes");
    assertThat(once.result()).isEmpty();
    once.run(lease -> counted(longest));
    assertThat(once.result()).get().extracting(OnceResult::value).isEqualTo(Optional.of(longest));
    assertThat(runs).hasValue(2);
  }

  @Test
  void givenRun_thenACallerWithLittleTimeGivesUp_andLeavesNothing() {
    needs(Capability.FACTS);
    CountDownLatch go = new CountDownLatch(1);
    DistributedOnce runner = once("a");
    Future<OnceResult> running =
        start(
            () ->
                runner.run(
                    lease -> {
                      runs.incrementAndGet();
                      go.await();
                      return "late";
                    }));
    BoundedWait.until(LONG, "it runs", () -> runs.get() == 1);
    DistributedOnce other = once("b");
    assertThat(other.result()).isEmpty();
    assertThat(other.forget()).isFalse();
    assertThatThrownBy(() -> other.run(BRIEF, lease -> counted("never")))
        .isInstanceOf(LockTimeoutException.class);
    Future<OnceResult> waiting = start(() -> other.run(lease -> counted("never")));
    go.countDown();
    assertThat(get(waiting).value()).contains("late");
    assertThat(get(running).ranHere()).isTrue();
    assertThat(runs).hasValue(1);
    assertNothingLeft(KEY_LOCK);
  }

  @Test
  void givenResultWhoseTimeIsOver_thenTheTaskRunsAgain_alsoWhenItIsForgotten() throws Exception {
    needs(Capability.FACTS);
    DistributedOnce once = once("a");
    once.keepFor(Duration.ofMillis(1)).run(lease -> counted("short"));
    BoundedWait.until(LONG, "it is over", () -> once.result().isEmpty());
    assertThat(once.run(lease -> counted("again")).ranHere()).isTrue();
    assertThat(once("b").forget()).isTrue();
    BoundedWait.until(LONG, "it is forgotten", () -> once.result().isEmpty());
    assertThat(once.forget()).isFalse();
    assertThat(once.run(lease -> counted("third")).value()).contains("third");
    assertThat(runs).hasValue(3);
  }

  @Test
  @RerunIfPaused
  void givenRunnerThatIsCutOff_thenAnotherRuns_andTheLateResultIsNotStored() throws Exception {
    needs(Capability.FACTS);
    CountDownLatch go = new CountDownLatch(1);
    Peer dying = mortal("dying");
    Future<OnceResult> lost =
        start(
            () ->
                dying
                    .client()
                    .once(KEY)
                    .run(
                        lease -> {
                          runs.incrementAndGet();
                          go.await();
                          return "late";
                        }));
    BoundedWait.until(LONG, "it runs", () -> runs.get() == 1);
    dying.link().set(StoreLink.LinkState.CUT);
    OnceResult taken = once("heir").run(lease -> counted("heir"));
    assertThat(taken.ranHere()).isTrue();
    dying.link().set(StoreLink.LinkState.UP);
    go.countDown();
    assertThat(failure(lost)).isInstanceOf(LeaseLostException.class);
    assertThat(once("reader").result())
        .get()
        .extracting(OnceResult::value)
        .isEqualTo(Optional.of("heir"));
    assertThat(runs).hasValue(2);
    assertNothingLeft(KEY_LOCK);
  }

  @Test
  void givenAsynchronousCallers_thenOneRuns_andNoThreadWaits() {
    needs(Capability.FACTS);
    List<DistributedOnce> processes = List.of(once("a"), once("b"), once("c"), once("d"));
    CompletableFuture<@Nullable String> work = new CompletableFuture<>();
    List<CompletableFuture<OnceResult>> calls = new ArrayList<>();
    for (int i = 0; i < 16; i++) {
      calls.add(
          processes
              .get(i % 4)
              .runAsync(
                  lease -> {
                    runs.incrementAndGet();
                    return work;
                  }));
    }
    BoundedWait.until(LONG, "it runs", () -> runs.get() == 1);
    assertThat(processes.get(0).runAsync(BRIEF, lease -> work))
        .failsWithin(LONG)
        .withThrowableThat()
        .withCauseInstanceOf(LockTimeoutException.class);
    CompletableFuture<OnceResult> cancelled = processes.get(1).runAsync(lease -> work);
    assertThat(cancelled.cancel(false)).isTrue();
    assertThat(calls).noneMatch(CompletableFuture::isDone);
    work.complete("done");
    List<OnceResult> results = calls.stream().map(ClientSuite::get).toList();
    assertThat(results).filteredOn(OnceResult::ranHere).hasSize(1);
    assertThat(results).allMatch(result -> result.value().equals(Optional.of("done")));
    assertThat(runs).hasValue(1);
    assertNothingLeft(KEY_LOCK);
  }

  @Test
  void givenAsynchronousTaskThatFails_thenNothingIsStored_andTheNextCallerRuns() throws Exception {
    needs(Capability.FACTS);
    DistributedOnce once = once("a");
    assertThat(
            once.runAsync(lease -> CompletableFuture.failedFuture(new IllegalStateException("x"))))
        .failsWithin(LONG)
        .withThrowableThat()
        .withMessageContaining("x");
    assertThat(
            once.runAsync(
                lease -> {
                  throw new IllegalStateException("y");
                }))
        .failsWithin(LONG)
        .withThrowableThat()
        .withMessageContaining("y");
    assertThat(once.result()).isEmpty();
    String tooLong = "x".repeat(DistributedOnce.MAX_RESULT_BYTES + 1);
    assertThat(once.runAsync(lease -> CompletableFuture.completedFuture(tooLong)))
        .failsWithin(LONG)
        .withThrowableThat()
        .withCauseInstanceOf(IllegalArgumentException.class);
    OnceResult none = get(once.runAsync(lease -> CompletableFuture.completedFuture(null)));
    assertThat(none.ranHere()).isTrue();
    assertThat(none.value()).isEmpty();
    assertThat(once("b").run(lease -> counted("never")).ranHere()).isFalse();
    assertThat(runs).hasValue(0);
    assertNothingLeft(KEY_LOCK);
  }

  @Test
  void givenOtherTextUnderTheKey_thenItIsNotTakenForAResult() {
    needs(Capability.FACTS);
    BoundedWait.join(store().replaceFact(LockName.of(KEY_LOCK), 0, "not ours", KEPT));
    assertThatThrownBy(() -> once("a").run(lease -> counted("never")))
        .isInstanceOf(LockException.class)
        .hasMessageContaining("'" + KEY + "'");
    assertThat(runs).hasValue(0);
  }
}
