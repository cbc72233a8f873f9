package io.mortise.reactor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.mortise.DistributedLock;
import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.LockTimeoutException;
import io.mortise.admin.Eviction;
import io.mortise.testserver.TestStore;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

class ReactiveLockTest {
  private static final String NAME = "invoice/42";
  private static final Duration LIMIT = Duration.ofSeconds(20);

  private final EndlessBody body = new EndlessBody();

  private LockClient locks;
  private DistributedLock plain;
  private ReactiveLock lock;

  /** Never ends by itself. It runs when it is asked for a value: later than the grant. */
  private static final class EndlessBody {
    final AtomicBoolean running = new AtomicBoolean();
    final AtomicBoolean cancelled = new AtomicBoolean();

    Mono<Object> mono() {
      return Mono.never()
          .doOnCancel(() -> cancelled.set(true))
          .doOnRequest(values -> running.set(true));
    }
  }

  @BeforeEach
  void open() {
    locks = LockClient.connect(TestStore.MEMORY.newUrl());
    plain = locks.lock(NAME);
    lock = ReactiveLock.of(plain, LIMIT);
  }

  @AfterEach
  void close() {
    locks.close();
  }

  private boolean isFree() {
    return plain.tryAcquire().map(lease -> closed(lease)).orElse(false);
  }

  private static boolean closed(Lease lease) {
    lease.close();
    return true;
  }

  @Test
  void givenMono_whenSubscribed_thenItRunsUnderTheLock_andEachSubscriptionTakesItAnew() {
    AtomicInteger runs = new AtomicInteger();
    Mono<Boolean> report =
        Mono.fromCallable(
                () -> {
                  runs.incrementAndGet();
                  return isFree();
                })
            .transform(lock::withLock);
    assertThat(runs).hasValue(0);
    assertThat(report.block(LIMIT)).isFalse();
    assertThat(report.block(LIMIT)).isFalse();
    assertThat(runs).hasValue(2);
    assertThat(isFree()).isTrue();
  }

  @Test
  void givenFlux_whenConsumed_thenTheLockIsHeldUntilItsLastValue() {
    Queue<Boolean> free = new ConcurrentLinkedQueue<>();
    assertThat(
            Flux.range(1, 3)
                .doOnNext(value -> free.add(isFree()))
                .transform(lock::withLockMany)
                .collectList()
                .block(LIMIT))
        .containsExactly(1, 2, 3);
    assertThat(free).containsExactly(false, false, false);
    assertThat(isFree()).isTrue();
  }

  @Test
  void givenBody_whenItFails_orIsEmpty_orCannotBegin_thenTheLockIsFree() {
    assertThatThrownBy(
            () -> lock.withLock(Mono.error(new IllegalArgumentException("body"))).block(LIMIT))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("body");
    assertThat(isFree()).isTrue();
    assertThat(lock.withLock(Mono.empty()).blockOptional(LIMIT)).isEmpty();
    assertThat(isFree()).isTrue();
    assertThatThrownBy(
            () ->
                lock.withLeaseMany(
                        lease -> {
                          throw new IllegalArgumentException("begin");
                        })
                    .blockLast(LIMIT))
        .hasMessage("begin");
    assertThat(isFree()).isTrue();
  }

  @Test
  void givenHeldLock_whenTriedOnce_thenItFailsByTimeout_andTheBodyHasNotRun() throws Exception {
    AtomicBoolean run = new AtomicBoolean();
    try (Lease held = plain.acquire()) {
      assertThat(held.isValid()).isTrue();
      assertThatThrownBy(
              () ->
                  ReactiveLock.of(plain, Duration.ZERO)
                      .withLock(Mono.fromRunnable(() -> run.set(true)))
                      .block(LIMIT))
          .isInstanceOf(LockTimeoutException.class);
    }
    assertThat(run).isFalse();
    assertThatThrownBy(() -> ReactiveLock.of(plain, Duration.ofMillis(-1)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void givenRunningBody_whenCancelled_thenItIsCancelled_andTheLockIsFree() {
    Disposable running = lock.withLock(body.mono()).subscribe();
    await().untilTrue(body.running);
    running.dispose();
    await().untilTrue(body.cancelled);
    await().until(this::isFree);
  }

  @Test
  void givenMono_whenItsLeaseIsLost_thenTheBodyIsCancelled_andTheSubscriberIsTold() {
    AtomicReference<Throwable> told = new AtomicReference<>();
    lock.withLease(lease -> body.mono()).subscribe(value -> {}, told::set);
    await().untilTrue(body.running);
    evict();
    await().untilAsserted(() -> assertThat(told.get()).isInstanceOf(LeaseLostException.class));
    assertThat(body.cancelled).isTrue();
  }

  @Test
  void givenFlux_whenItsLeaseIsLost_thenTheBodyIsCancelled_andTheSubscriberIsTold() {
    AtomicReference<Throwable> told = new AtomicReference<>();
    Queue<Integer> values = new ConcurrentLinkedQueue<>();
    lock.withLockMany(Flux.just(1, 2).concatWith(body.mono().cast(Integer.class)))
        .subscribe(values::add, told::set);
    await().untilTrue(body.running);
    evict();
    await().untilAsserted(() -> assertThat(told.get()).isInstanceOf(LeaseLostException.class));
    assertThat(values).containsExactly(1, 2);
    assertThat(body.cancelled).isTrue();
  }

  @Test
  void givenBodyThatDoesNotNoticeALoss_whenItCompletes_thenTheReleaseTells() {
    assertThatThrownBy(
            () ->
                lock.withLease(
                        lease ->
                            Mono.fromCallable(
                                () -> {
                                  evict();
                                  await().until(() -> !lease.isValid());
                                  return "done";
                                }))
                    .block(LIMIT))
        .isInstanceOf(LeaseLostException.class);
  }

  private void evict() {
    locks
        .admin()
        .evict(
            NAME,
            locks.admin().find(NAME).orElseThrow().holders().get(0).attempt(),
            Eviction.BREAK);
  }
}
