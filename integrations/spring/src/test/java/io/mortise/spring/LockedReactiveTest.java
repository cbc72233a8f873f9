package io.mortise.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.LockTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.reactive.AbstractReactiveTransactionManager;
import org.springframework.transaction.reactive.GenericReactiveTransaction;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;
import org.springframework.transaction.reactive.TransactionalOperator;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

/** {@link Locked} methods whose work is done by subscriptions. */
class LockedReactiveTest {
  private static final String NAME = "reactive";
  private static final Duration BOUND = Duration.ofSeconds(10);

  private SpringApp app;
  private Service service;

  static class Service {
    private final AtomicInteger calls = new AtomicInteger();

    AtomicInteger calls() {
      return calls;
    }

    @Locked(NAME)
    Mono<String> mono(Mono<String> body) {
      calls.incrementAndGet();
      return body;
    }

    @Locked(NAME)
    Flux<Integer> flux(Flux<Integer> body) {
      return body;
    }

    @Locked(NAME)
    Mono<Long> token() {
      long here = LockContext.current().token();
      return ReactiveLockContext.current().map(LockContext::token).filter(inside -> inside == here);
    }

    @Locked(NAME)
    Flow.Publisher<Integer> flow() {
      return org.reactivestreams.FlowAdapters.toFlowPublisher(Flux.just(1, 2));
    }

    @Locked(NAME)
    Publisher<Integer> publisher() {
      return Flux.just(1, 2, 3);
    }

    @Locked(value = NAME, waitFor = "1ms")
    Mono<String> thrown() {
      return Mono.just("run");
    }

    @Locked(value = NAME, waitFor = "0", ifBusy = Locked.IfBusy.SKIP)
    Flux<String> skipped() {
      return Flux.just("run");
    }

    @Locked(value = NAME, interrupt = false)
    Mono<String> notCancelledOnLoss(Mono<String> body) {
      return body;
    }

    @Locked(NAME)
    @Transactional
    Mono<String> transactional() {
      return Mono.just("run");
    }

    @Locked(NAME)
    @Transactional
    Mono<String> transactional(Mono<String> body) {
      return body;
    }

    @Locked(NAME)
    @Transactional
    Flux<Integer> transactional(Flux<Integer> body) {
      return body;
    }

    @Locked(value = NAME, until = Locked.Until.RETURN)
    @Transactional
    Mono<String> untilReturn(Mono<String> body) {
      return body;
    }

    @Locked(NAME)
    Mono<String> fails() {
      throw new IllegalStateException("the method's own");
    }
  }

  static final class ReactiveTransactions extends AbstractReactiveTransactionManager {
    private static final long serialVersionUID = 1L;

    final transient List<String> events = new CopyOnWriteArrayList<>();

    /** A gate that a commit or rollback waits for. */
    transient volatile Mono<Void> gate = Mono.empty();

    private final transient SpringApp.Probe probe;

    ReactiveTransactions(SpringApp.Probe probe) {
      this.probe = probe;
    }

    @Override
    protected Object doGetTransaction(TransactionSynchronizationManager manager) {
      return manager.isActualTransactionActive();
    }

    @Override
    protected boolean isExistingTransaction(Object it) {
      return (Boolean) it;
    }

    @Override
    protected Mono<Void> doBegin(
        TransactionSynchronizationManager manager, Object it, TransactionDefinition definition) {
      return Mono.fromRunnable(() -> events.add("begin" + probe.state()));
    }

    @Override
    protected Mono<Void> doCommit(
        TransactionSynchronizationManager manager, GenericReactiveTransaction status) {
      return Mono.fromRunnable(() -> events.add("commit" + probe.state()))
          .then(Mono.defer(() -> gate))
          .then(Mono.fromRunnable(() -> events.add("ended" + probe.state())));
    }

    @Override
    protected Mono<Void> doRollback(
        TransactionSynchronizationManager manager, GenericReactiveTransaction status) {
      return Mono.fromRunnable(() -> events.add("rollback" + probe.state()))
          .then(Mono.defer(() -> gate))
          .then(Mono.fromRunnable(() -> events.add("ended" + probe.state())));
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableTransactionManagement
  static class Config {
    @Bean
    Service service() {
      return new Service();
    }

    @Bean
    ReactiveTransactions transactions(LockClient locks) {
      return new ReactiveTransactions(SpringApp.Probe.ofLock(locks, NAME));
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
  void givenMono_whenSubscribed_thenTheLockIsHeldUntilItEnds() {
    Sinks.One<String> body = Sinks.one();
    Mono<String> call = service.mono(body.asMono());
    assertThat(service.calls()).hasValue(0);
    var result = call.toFuture();
    await().until(() -> app.isHeld(NAME));
    body.tryEmitValue("done");
    assertThat(result.join()).isEqualTo("done");
    assertThat(app.isHeld(NAME)).isFalse();
  }

  @Test
  void givenOnePublisher_whenSubscribedTwice_thenEachSubscriptionIsLocked() {
    Mono<String> call = service.mono(Mono.fromSupplier(() -> app.isHeld(NAME) ? "held" : "free"));
    assertThat(call.block(BOUND)).isEqualTo("held");
    assertThat(call.block(BOUND)).isEqualTo("held");
    assertThat(service.calls()).hasValue(2);
    assertThat(app.isHeld(NAME)).isFalse();
  }

  @Test
  void givenOtherPublishers_whenSubscribed_thenTheirValuesArrive() {
    assertThat(service.flux(Flux.just(1, 2)).collectList().block(BOUND)).containsExactly(1, 2);
    assertThat(Flux.from(service.publisher()).collectList().block(BOUND)).hasSize(3);
    assertThat(
            Flux.from(org.reactivestreams.FlowAdapters.toPublisher(service.flow()))
                .collectList()
                .block(BOUND))
        .containsExactly(1, 2);
    assertThat(service.mono(Mono.empty()).blockOptional(BOUND)).isEmpty();
    assertThat(app.isHeld(NAME)).isFalse();
  }

  @Test
  void givenSubscription_whenItAsksForItsContext_thenItIsThatOfTheCall() {
    assertThat(service.token().block(BOUND)).isPositive();
    assertThat(ReactiveLockContext.current().blockOptional(BOUND)).isEmpty();
  }

  @Test
  void givenFailure_whenSubscribed_thenItComesOutAndTheLockIsFree() {
    assertThatThrownBy(() -> service.mono(Mono.error(new IllegalStateException("x"))).block(BOUND))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("x");
    assertThatThrownBy(() -> service.fails().block(BOUND)).hasMessage("the method's own");
    assertThat(app.isHeld(NAME)).isFalse();
  }

  @Test
  void givenBusyLock_whenSubscribed_thenItFailsOrIsEmpty() {
    try (Lease busy = app.hold(NAME)) {
      assertThat(busy.isValid()).isTrue();
      assertThatThrownBy(() -> service.thrown().block(BOUND))
          .isInstanceOf(LockTimeoutException.class);
      assertThat(service.skipped().collectList().block(BOUND)).isEmpty();
    }
    assertThat(service.skipped().collectList().block(BOUND)).containsExactly("run");
    // It waits for a millisecond, which may pass before the answer arrives.
    await()
        .ignoreExceptionsInstanceOf(LockTimeoutException.class)
        .until(() -> service.thrown().block(BOUND), "run"::equals);
  }

  @Test
  void givenSubscription_whenItIsCancelled_thenTheLockIsFree() {
    Disposable running = service.mono(Mono.never()).subscribe();
    await().until(() -> app.isHeld(NAME));
    running.dispose();
    await().until(() -> !app.isHeld(NAME));
    try (Lease busy = app.hold(NAME)) {
      assertThat(busy.isValid()).isTrue();
      Disposable waiting = service.mono(Mono.never()).subscribe();
      await().until(() -> !app.info(NAME).orElseThrow().waiters().isEmpty());
      waiting.dispose();
      await().until(() -> app.info(NAME).orElseThrow().waiters().isEmpty());
    }
    assertThat(app.isHeld(NAME)).isFalse();
  }

  @Test
  void givenCancellationThatRacesWithTheGrant_whenRepeated_thenNoLockStaysHeld() {
    for (int i = 0; i < 3_000; i++) {
      Disposable running = service.mono(Mono.never()).subscribe();
      for (int spin = 0; spin < i % 300 * 10; spin++) {
        Thread.onSpinWait();
      }
      running.dispose();
    }
    assertThat(service.token().block(BOUND)).isPositive();
    await().until(() -> !app.isHeld(NAME));
  }

  @Test
  void givenInterrupt_whenTheLockIsLost_thenTheBodyIsCancelledAndFails() {
    AtomicInteger cancelled = new AtomicInteger();
    Sinks.One<String> endless = Sinks.one();
    var result = service.mono(endless.asMono().doOnCancel(cancelled::incrementAndGet)).toFuture();
    await().until(() -> endless.currentSubscriberCount() == 1);
    app.evict(NAME);
    await().until(result::isCompletedExceptionally);
    assertThatThrownBy(result::join).hasCauseInstanceOf(LeaseLostException.class);
    await().until(() -> cancelled.get() == 1);
  }

  @Test
  void givenStreamOfValues_whenTheLockIsLost_thenItIsCancelledAndFails() {
    AtomicInteger cancelled = new AtomicInteger();
    Sinks.One<Integer> endless = Sinks.one();
    Flux<Integer> body =
        Flux.concat(Flux.just(1), endless.asMono()).doOnCancel(cancelled::incrementAndGet);
    var result = service.flux(body).collectList().toFuture();
    await().until(() -> endless.currentSubscriberCount() == 1);
    app.evict(NAME);
    await().until(result::isCompletedExceptionally);
    assertThatThrownBy(result::join).hasCauseInstanceOf(LeaseLostException.class);
    await().until(() -> cancelled.get() == 1);
  }

  @Test
  void givenNoInterrupt_whenTheLockIsLost_thenTheLossIsToldAtTheEnd() {
    Sinks.One<String> body = Sinks.one();
    var result = service.notCancelledOnLoss(body.asMono()).toFuture();
    await().until(() -> body.currentSubscriberCount() == 1);
    app.evict(NAME);
    await().until(() -> !app.isHeld(NAME));
    assertThat(result).isNotDone();
    body.tryEmitValue("done");
    await().until(result::isCompletedExceptionally);
    assertThatThrownBy(result::join).hasCauseInstanceOf(LeaseLostException.class);
  }

  @Test
  void givenReactiveTransactions_whenCombined_thenTheLockIsHeldAtTheCommit() {
    ReactiveTransactions transactions = app.bean(ReactiveTransactions.class);
    assertThat(service.transactional().block(BOUND)).isEqualTo("run");
    assertThat(transactions.events).containsExactly("begin held", "commit held", "ended held");
    assertThat(app.isHeld(NAME)).isFalse();
    transactions.events.clear();
    Mono<String> body =
        service.mono(Mono.just("done")).doOnNext(value -> assertThat(app.isHeld(NAME)).isTrue());
    assertThat(body.as(TransactionalOperator.create(transactions)::transactional).block(BOUND))
        .isEqualTo("done");
    assertThat(transactions.events).containsExactly("begin", "commit held", "ended held");
    assertThat(app.isHeld(NAME)).isFalse();
  }

  @Test
  void givenLostLeaseThatTheBodyClosed_whenTheTransactionIsToCommit_thenItIsRolledBack() {
    ReactiveTransactions transactions = app.bean(ReactiveTransactions.class);
    Mono<String> body =
        service.notCancelledOnLoss(
            ReactiveLockContext.current()
                .map(
                    context -> {
                      app.evict(NAME);
                      await().until(() -> !context.lease().isValid());
                      assertThatThrownBy(context.lease()::close)
                          .isInstanceOf(LeaseLostException.class);
                      return "done";
                    }));
    Mono<String> call = body.as(TransactionalOperator.create(transactions)::transactional);
    assertThatThrownBy(() -> call.block(BOUND)).isInstanceOf(LeaseLostException.class);
    assertThat(transactions.events).containsExactly("begin", "rollback", "ended");
  }

  private void assertHeldUntilTheTransactionHasEnded(
      Supplier<Disposable> subscription, Callable<Boolean> reached, String event) {
    ReactiveTransactions transactions = app.bean(ReactiveTransactions.class);
    Sinks.Empty<Void> gate = Sinks.empty();
    transactions.gate = gate.asMono();
    Disposable running = subscription.get();
    await().until(reached);
    assertThat(app.isHeld(NAME)).isTrue();
    running.dispose();
    await().until(() -> transactions.events.contains(event));
    assertThat(app.other().lock(NAME).tryAcquire()).isEmpty();
    gate.tryEmitEmpty();
    await().until(() -> !app.isHeld(NAME));
    assertThat(transactions.events).containsExactly("begin held", event, "ended held");
    transactions.events.clear();
  }

  @Test
  void givenSubscription_whenItIsCancelledDuringTheCommit_thenTheLockIsHeldUntilItIsDone() {
    String commit = "commit held";
    Callable<Boolean> commits = () -> app.bean(ReactiveTransactions.class).events.contains(commit);
    assertHeldUntilTheTransactionHasEnded(
        () -> service.transactional(Mono.just("done")).subscribe(), commits, commit);
    assertHeldUntilTheTransactionHasEnded(
        () -> service.transactional(Flux.just(1, 2)).subscribe(), commits, commit);
    assertHeldUntilTheTransactionHasEnded(
        () -> service.untilReturn(Mono.just("done")).subscribe(), commits, commit);
  }

  @Test
  void givenSubscription_whenItIsCancelledBefore_thenTheLockIsHeldUntilItIsRolledBack() {
    Sinks.One<String> endless = Sinks.one();
    assertHeldUntilTheTransactionHasEnded(
        () -> service.transactional(endless.asMono()).subscribe(),
        () -> endless.currentSubscriberCount() == 1,
        "rollback held");
    Sinks.One<Integer> endlessMany = Sinks.one();
    assertHeldUntilTheTransactionHasEnded(
        () -> service.transactional(endlessMany.asMono().flux()).subscribe(),
        () -> endlessMany.currentSubscriberCount() == 1,
        "rollback held");
  }

  @Test
  void givenCallersTransaction_whenTheLockIsForTheCall_thenItIsFreeBeforeTheCommit() {
    ReactiveTransactions transactions = app.bean(ReactiveTransactions.class);
    Mono<String> call =
        service
            .untilReturn(Mono.just("done"))
            .as(TransactionalOperator.create(transactions)::transactional);
    assertThat(call.block(BOUND)).isEqualTo("done");
    assertThat(transactions.events).containsExactly("begin", "commit", "ended");
  }

  @Test
  void givenCancellationThatRacesWithTheTransaction_whenRepeated_thenNoLockStaysHeld() {
    for (int i = 0; i < 2_000; i++) {
      Disposable running =
          service
              .transactional(i % 2 == 0 ? Mono.never() : Mono.just("done"))
              .subscribeOn(Schedulers.parallel())
              .subscribe();
      for (int spin = 0; spin < i % 400 * 20; spin++) {
        Thread.onSpinWait();
      }
      running.dispose();
    }
    assertThat(service.token().block(BOUND)).isPositive();
    await().until(() -> !app.isHeld(NAME));
  }
}
