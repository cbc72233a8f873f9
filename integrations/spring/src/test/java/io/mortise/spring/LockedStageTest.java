package io.mortise.spring;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockTimeoutException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;

/** {@link Locked} methods that return a stage, and those of {@code @Async}. */
class LockedStageTest {
  private SpringApp app;
  private Service service;

  static class Service {
    private final AtomicInteger calls = new AtomicInteger();

    AtomicInteger calls() {
      return calls;
    }

    @Locked("stage")
    CompletableFuture<String> future(CompletableFuture<String> until) {
      calls.incrementAndGet();
      return until.thenApply(value -> value + "!");
    }

    @Locked(value = "stage", waitFor = "forever")
    CompletableFuture<String> waitsForever() {
      calls.incrementAndGet();
      return CompletableFuture.completedFuture("run");
    }

    @Locked({"stage", "second"})
    CompletionStage<Integer> several(CompletionStage<Integer> until) {
      assertThat(LockContext.current().leases()).hasSize(2);
      return until;
    }

    @Locked("stage")
    CompletableFuture<Long> token() {
      return CompletableFuture.completedFuture(LockContext.current().token());
    }

    @Locked("stage")
    CompletableFuture<String> fails() {
      throw new IllegalStateException("the method's own");
    }

    @Locked("stage")
    CompletableFuture<String> returnsNothing() {
      return null;
    }

    @Locked(value = "stage", waitFor = "1ms")
    CompletableFuture<String> thrown() {
      return CompletableFuture.completedFuture("run");
    }

    @Locked(value = "stage", waitFor = "0", ifBusy = Locked.IfBusy.SKIP)
    CompletableFuture<Optional<String>> skipped() {
      return CompletableFuture.completedFuture(Optional.of("run"));
    }

    @Async
    @Locked("async")
    CompletableFuture<String> onExecutor(CompletableFuture<?> until) {
      String thread = Thread.currentThread().getName();
      return until.thenApply(ignored -> thread);
    }

    @Async
    @Locked(value = "async", waitFor = "0", ifBusy = Locked.IfBusy.SKIP)
    CompletableFuture<String> skippedOnExecutor() {
      return CompletableFuture.completedFuture("run");
    }

    @Async
    @Locked("async")
    void void_(CompletableFuture<?> until) {
      until.join();
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAsync
  static class Config {
    @Bean
    Service service() {
      return new Service();
    }

    @Bean(destroyMethod = "shutdownNow")
    ExecutorService taskExecutor() {
      return Executors.newFixedThreadPool(2, task -> new Thread(task, "the-executor"));
    }
  }

  @BeforeEach
  void start() {
    app = SpringApp.start(Config.class);
    service = app.bean(Service.class);
  }

  @AfterEach
  void close() {
    app.close();
  }

  @Test
  void givenStage_whenItCompletes_thenTheLockIsFree() throws Exception {
    CompletableFuture<String> until = new CompletableFuture<>();
    CompletableFuture<String> result = service.future(until);
    await().until(() -> app.isHeld("stage"));
    assertThat(result).isNotDone();
    until.complete("done");
    assertThat(result.get(10, SECONDS)).isEqualTo("done!");
    assertThat(app.isHeld("stage")).isFalse();
  }

  @Test
  void givenSeveralNames_whenTheStageCompletes_thenAllAreFree() throws Exception {
    CompletableFuture<Integer> until = new CompletableFuture<>();
    CompletableFuture<Integer> result = service.several(until).toCompletableFuture();
    await().until(() -> app.isHeld("stage") && app.isHeld("second"));
    until.complete(1);
    assertThat(result.get(10, SECONDS)).isEqualTo(1);
    assertThat(app.isHeld("stage")).isFalse();
    assertThat(app.isHeld("second")).isFalse();
  }

  @Test
  void givenBody_whenItIsCalled_thenItHasItsToken() throws Exception {
    assertThat(service.token().get(10, SECONDS)).isPositive();
  }

  @Test
  void givenStageThatTakesNoFollower_thenTheResultFailsAndTheLockIsFree() {
    CompletionStage<Integer> broken =
        new CompletableFuture<>() {
          @Override
          public CompletableFuture<Integer> whenComplete(
              BiConsumer<? super Integer, ? super Throwable> action) {
            throw new IllegalStateException("the stage's own");
          }
        };
    CompletableFuture<Integer> result = service.several(broken).toCompletableFuture();
    assertThatThrownBy(() -> result.get(10, SECONDS)).hasRootCauseMessage("the stage's own");
    assertThat(app.isHeld("stage")).isFalse();
  }

  @Test
  void givenFailure_whenTheStageFails_thenTheResultDoesAndTheLockIsFree() throws Exception {
    CompletableFuture<String> until = new CompletableFuture<>();
    CompletableFuture<String> result = service.future(until);
    until.completeExceptionally(new IllegalStateException("the stage's own"));
    assertThatThrownBy(() -> result.get(10, SECONDS))
        .isInstanceOf(ExecutionException.class)
        .hasRootCauseMessage("the stage's own");
    CompletableFuture<String> thrown = service.fails();
    assertThatThrownBy(() -> thrown.get(10, SECONDS))
        .cause()
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("the method's own");
    assertThat(service.returnsNothing().get(10, SECONDS)).isNull();
    assertThat(app.isHeld("stage")).isFalse();
  }

  @Test
  void givenBusyLock_whenCalled_thenTheResultFailsOrIsSkipped() throws Exception {
    try (Lease busy = app.hold("stage")) {
      assertThat(busy.isValid()).isTrue();
      CompletableFuture<String> thrown = service.thrown();
      assertThatThrownBy(() -> thrown.get(10, SECONDS))
          .cause()
          .isInstanceOf(LockTimeoutException.class);
      assertThat(service.skipped().get(10, SECONDS)).isEmpty();
    }
    assertThat(service.skipped().get(10, SECONDS)).contains("run");
    // It waits for a millisecond, which may pass before the answer arrives.
    await()
        .ignoreExceptionsMatching(late -> late.getCause() instanceof LockTimeoutException)
        .until(() -> service.thrown().get(10, SECONDS), "run"::equals);
  }

  @Test
  void givenWaitingCall_whenItIsCancelled_thenTheAttemptIsGivenUp() {
    try (Lease busy = app.hold("stage")) {
      assertThat(busy.isValid()).isTrue();
      CompletableFuture<String> result = service.future(new CompletableFuture<>());
      await().until(() -> !app.info("stage").orElseThrow().waiters().isEmpty());
      assertThat(result.cancel(true)).isTrue();
      await().until(() -> app.info("stage").orElseThrow().waiters().isEmpty());
    }
    assertThat(service.calls()).hasValue(0);
    assertThat(app.isHeld("stage")).isFalse();
  }

  @Test
  void givenWaitingCall_whenItsResultTimesOut_thenTheAttemptIsGivenUp() {
    try (Lease busy = app.hold("stage")) {
      assertThat(busy.isValid()).isTrue();
      CompletableFuture<String> result = service.waitsForever();
      await().until(() -> !app.info("stage").orElseThrow().waiters().isEmpty());
      var unused = result.orTimeout(1, MILLISECONDS);
      await().until(() -> app.info("stage").orElseThrow().waiters().isEmpty());
      assertThatThrownBy(result::join).hasCauseInstanceOf(TimeoutException.class);
    }
    assertThat(service.calls()).hasValue(0);
    assertThat(app.isHeld("stage")).isFalse();
  }

  @Test
  void givenCancellationThatRacesWithTheGrant_whenRepeated_thenNoLockStaysHeld() throws Exception {
    for (int i = 0; i < 2_000; i++) {
      CompletableFuture<String> result = service.future(CompletableFuture.completedFuture(""));
      if (i % 3 != 0) {
        Thread.onSpinWait();
      }
      result.cancel(true);
    }
    assertThat(service.token().get(10, SECONDS)).isPositive();
    await().until(() -> !app.isHeld("stage"));
  }

  @Test
  void givenLoss_whenTheStageCompletes_thenTheResultIsTheLoss() {
    CompletableFuture<String> until = new CompletableFuture<>();
    CompletableFuture<String> result = service.future(until);
    await().until(() -> app.isHeld("stage"));
    app.evict("stage");
    await()
        .untilAsserted(
            () -> {
              try (Lease next = app.hold("stage")) {
                assertThat(next.isValid()).isTrue();
              }
            });
    until.complete("done");
    assertThatThrownBy(() -> result.get(10, SECONDS))
        .cause()
        .isInstanceOf(LeaseLostException.class);
  }

  @Test
  void givenAsyncMethod_whenItReturnsAStage_thenTheLockIsTakenOnTheExecutorsThread()
      throws Exception {
    CompletableFuture<String> until = new CompletableFuture<>();
    CompletableFuture<String> result = service.onExecutor(until);
    await().until(() -> app.isHeld("async"));
    assertThat(service.skippedOnExecutor().get(10, SECONDS)).isNull();
    until.complete("");
    assertThat(result.get(10, SECONDS)).isEqualTo("the-executor");
    await().until(() -> !app.isHeld("async"));
    assertThat(service.skippedOnExecutor().get(10, SECONDS)).isEqualTo("run");
  }

  @Test
  void givenAsyncMethod_whenItReturnsNothing_thenTheLockIsHeldWhileItRuns() {
    CompletableFuture<String> until = new CompletableFuture<>();
    service.void_(until);
    await().until(() -> app.isHeld("async"));
    until.complete("");
    await().until(() -> !app.isHeld("async"));
  }
}
