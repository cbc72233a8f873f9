package io.mortise.reactor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.DistributedLock;
import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockTimeoutException;
import io.mortise.testserver.TestStore;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.reactivestreams.Publisher;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Subscriptions that are cancelled while their grant arrives. Each round begins with an acquire of
 * the same lock, which shows that the previous round left nothing.
 */
class CancelRaceTest {
  private static final int ROUNDS = 10_000;
  private static final long LEAST_STEP_NANOS = 500;
  private static final long MOST_STEP_NANOS = 1_000_000;
  private static final String NAME = "raced";
  private static final Duration LIMIT = Duration.ofSeconds(30);

  private final ExecutorService releaser = Executors.newSingleThreadExecutor();

  @AfterEach
  void end() throws InterruptedException {
    releaser.shutdownNow();
    assertThat(releaser.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
  }

  @ParameterizedTest
  @EnumSource(names = {"MEMORY", "REDIS"})
  @Timeout(value = 10, unit = TimeUnit.MINUTES)
  void givenMono_whenCancelledWhileItsGrantComesIn_thenNoGrantIsLeft(TestStore store)
      throws Exception {
    race(
        store,
        ROUNDS,
        LIMIT,
        (lock, body) -> ReactiveLock.of(lock).withLease(lease -> Mono.from(body.apply(lease))));
  }

  @ParameterizedTest
  @EnumSource(names = {"MEMORY", "REDIS"})
  @Timeout(value = 10, unit = TimeUnit.MINUTES)
  void givenFlux_whenCancelledWhileItsGrantComesIn_thenNoGrantIsLeft(TestStore store)
      throws Exception {
    race(store, ROUNDS / 5, LIMIT, (lock, body) -> ReactiveLock.of(lock).withLeaseMany(body));
  }

  /** Positive control. */
  @Test
  void givenGrantThatNobodyReleases_whenRaced_thenTheNextRoundNoticesIt() {
    assertThatThrownBy(
            () ->
                race(
                    TestStore.MEMORY,
                    ROUNDS,
                    Duration.ofMillis(200),
                    (lock, body) -> Mono.fromFuture(lock.acquireAsync()).flatMapMany(body)))
        .isInstanceOf(LockTimeoutException.class);
  }

  private void race(
      TestStore store,
      int rounds,
      Duration limit,
      BiFunction<DistributedLock, Function<Lease, Publisher<Object>>, Publisher<Object>> operator)
      throws Exception {
    String url = store.newUrl();
    Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
    int granted = 0;
    try (LockClient here = LockClient.connect(url);
        LockClient there = LockClient.connect(url)) {
      DistributedLock lock = here.lock(NAME);
      // Moved until about half of the rounds are granted, so that the two meet: in steps that
      // double as long as all rounds end alike, however far away that is on a busy machine.
      long delay = 0;
      long step = LEAST_STEP_NANOS;
      boolean before = false;
      for (int round = 0; round < rounds; round++) {
        Lease held = (round % 2 == 0 ? here : there).lock(NAME).acquireWithin(limit);
        AtomicBoolean begun = new AtomicBoolean();
        Disposable waiting =
            Flux.from(
                    operator.apply(
                        lock,
                        lease -> {
                          begun.set(true);
                          return Flux.never();
                        }))
                .subscribe(value -> {}, failures::add);
        long releaseDelay = Math.max(0, -delay);
        Future<?> released =
            releaser.submit(
                () -> {
                  spin(releaseDelay);
                  var unused = held.releaseAsync();
                });
        spin(Math.max(0, delay));
        waiting.dispose();
        released.get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
        boolean now = begun.get();
        step = now == before ? Math.min(MOST_STEP_NANOS, 2 * step) : LEAST_STEP_NANOS;
        before = now;
        granted += now ? 1 : 0;
        delay += now ? -step : step;
      }
      here.lock(NAME).acquireWithin(limit).close();
    }
    assertThat(failures).isEmpty();
    assertThat(granted).as("rounds of both ends").isBetween(rounds / 100, rounds * 99 / 100);
  }

  private static void spin(long nanos) {
    long end = System.nanoTime() + nanos;
    while (System.nanoTime() < end) {
      if (end - System.nanoTime() > 100_000) {
        LockSupport.parkNanos(50_000);
      } else {
        Thread.onSpinWait();
      }
    }
  }
}
