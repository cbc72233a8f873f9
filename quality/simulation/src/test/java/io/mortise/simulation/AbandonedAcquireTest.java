package io.mortise.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.mortise.GroupLease;
import io.mortise.Leadership;
import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockOptions;
import io.mortise.admin.Eviction;
import io.mortise.admin.LockParticipant;
import io.mortise.internal.client.EngineClient;
import io.mortise.internal.runtime.EngineEnv;
import io.mortise.internal.runtime.SystemEnv;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.time.Ticker;
import io.mortise.spi.time.WallClock;
import io.mortise.support.memory.MemStore;
import io.mortise.testkit.BoundedWait;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Acquires whose callers give up at any time around the grant leave no hold and no waiter. */
class AbandonedAcquireTest {
  private static final String NAME = "b";

  /** Ahead of it in the order in which a group takes its locks. */
  private static final String FIRST = "a";

  private static final Duration TTL = Duration.ofMinutes(5);
  private static final Duration BOUND = BoundedWait.scaled(Duration.ofSeconds(20));

  /** More rounds find more; 10,000 take minutes. */
  private static final int ROUNDS = Integer.getInteger("mortise.abandoned.rounds", 200);

  /** Fewer, since each round opens a client. */
  private static final int CLIENT_ROUNDS = ROUNDS / 10;

  /** The steps of the head start in a race, which is up to 20 µs. */
  private static final int LEADS = 40;

  private static final long LEAD_NANOS = 500;

  private final MemStore store = new MemStore(Ticker.SYSTEM, WallClock.SYSTEM);
  private final List<EngineClient> clients = new ArrayList<>();
  private final EngineClient waiting = client();
  private final ExecutorService racer = Executors.newSingleThreadExecutor();

  @AfterEach
  void close() {
    racer.shutdownNow();
    clients.forEach(EngineClient::close);
    store.close();
  }

  private EngineClient client() {
    SystemEnv system = new SystemEnv();
    EngineClient client = new EngineClient(store, env(system), system::close);
    clients.add(client);
    return client;
  }

  private static EngineEnv env(SystemEnv system) {
    return system.env(TTL, new ClientLabel("-", 1, "test"));
  }

  /** The forms that complete a future. */
  private enum Form {
    ACQUIRE,
    FAIR_ACQUIRE,
    TIMED_ACQUIRE,
    READ_ACQUIRE,
    TASK,
    GROUP,
    TIMED_GROUP,
    GROUP_TASK;

    CompletableFuture<?> begin(LockClient client) {
      return switch (this) {
        case ACQUIRE -> client.lock(NAME).acquireAsync();
        case FAIR_ACQUIRE ->
            client.lock(NAME).with(LockOptions.DEFAULTS.withFair(true)).acquireAsync();
        case TIMED_ACQUIRE -> client.lock(NAME).acquireAsync(BOUND);
        case READ_ACQUIRE -> client.readWriteLock(NAME).readLock().acquireAsync();
        case TASK -> client.lock(NAME).withLockAsync(CompletableFuture::completedFuture);
        case GROUP -> client.allOf(FIRST, NAME).acquireAsync();
        case TIMED_GROUP -> client.allOf(FIRST, NAME).acquireAsync(BOUND);
        case GROUP_TASK ->
            client.allOf(FIRST, NAME).withLocksAsync(CompletableFuture::completedFuture);
      };
    }
  }

  @ParameterizedTest
  @EnumSource
  void givenLockOfAnotherProcess_whenItIsReleasedWhileTheFutureIsCancelled_thenItIsFree(Form form)
      throws Exception {
    raceCancelAgainstRelease(client(), form);
  }

  @ParameterizedTest
  @EnumSource
  void givenLockOfTheSameProcess_whenItIsReleasedWhileTheFutureIsCancelled_thenItIsFree(Form form)
      throws Exception {
    raceCancelAgainstRelease(waiting, form);
  }

  private void raceCancelAgainstRelease(LockClient holding, Form form) throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      Lease held = holding.lock(NAME).acquireWithin(BOUND);
      CompletableFuture<?> future = form.begin(waiting);
      race(round, held::close, () -> future.cancel(true));
      if (!future.isCancelled()) {
        Object granted = future.get(BOUND.toSeconds(), TimeUnit.SECONDS);
        if (granted instanceof GroupLease group) {
          group.close();
        } else {
          ((Lease) granted).close();
        }
      }
      assertFree(holding, round);
    }
    assertNothingIsLeft();
  }

  @ParameterizedTest
  @EnumSource
  void givenFutureOfAWait_whenItIsCancelled_thenTheWaitEndsAtOnce_andTheTaskNeverBegins(Form form)
      throws Exception {
    LockClient holding = client();
    try (Lease held = holding.lock(NAME).acquireWithin(BOUND)) {
      CompletableFuture<?> future = form.begin(waiting);
      awaitQueued(held);
      future.cancel(true);
      assertNothingIsLeft();
      assertThat(held.isValid()).isTrue();
    }
    assertFree(holding, 0);
  }

  private void awaitQueued(Lease held) {
    await()
        .atMost(BOUND)
        .until(
            () ->
                waiting
                    .admin()
                    .find(held.name())
                    .map(info -> info.waiters().size() == 1)
                    .orElse(false));
  }

  @Test
  void givenTaskThatRuns_whenItsFutureIsCancelled_thenTheLockIsHeldUntilItEnds() throws Exception {
    CompletableFuture<String> work = new CompletableFuture<>();
    CountDownLatch begun = new CountDownLatch(1);
    CompletableFuture<String> future =
        waiting
            .lock(NAME)
            .withLockAsync(
                lease -> {
                  begun.countDown();
                  return work;
                });
    assertThat(begun.await(BOUND.toSeconds(), TimeUnit.SECONDS)).isTrue();
    future.cancel(true);
    assertThat(waiting.lock(NAME).tryAcquire()).isEmpty();
    work.complete("done");
    assertFree(waiting, 0);
  }

  @Test
  void givenFutureThatItsCallerCompletes_thenTheWaitEnds() throws Exception {
    try (Lease held = client().lock(NAME).acquireWithin(BOUND)) {
      CompletableFuture<Lease> future = waiting.lock(NAME).acquireAsync();
      awaitQueued(held);
      assertThat(future.complete(held)).isTrue();
      assertNothingIsLeft();
    }
  }

  /** The store keeps an evicted lock taken until its holder has closed its lease. */
  @Test
  void givenGrantForACancelledFuture_whenItIsEvictedBeforeItIsGivenBack_thenTheLockIsFree()
      throws Exception {
    Queue<Runnable> callbacks = new ArrayDeque<>();
    SystemEnv system = new SystemEnv();
    EngineEnv env = env(system);
    EngineClient slow =
        new EngineClient(
            store,
            new EngineEnv(
                env.ticker(),
                env.timers(),
                env.renewals(),
                callbacks::add,
                env.suspended(),
                env.random(),
                env.rules(),
                env.ttl(),
                env.client()),
            system::close);
    clients.add(slow);
    slow.lock("session").acquireWithin(BOUND).close();
    CompletableFuture<Lease> future = slow.lock(NAME).acquireAsync();
    LockParticipant holder =
        waiting.admin().find(NAME).orElseThrow().holders().stream().findFirst().orElseThrow();
    future.cancel(true);
    waiting.admin().evict(NAME, holder.attempt(), Eviction.CLOSE);
    assertThat(waiting.lock(NAME).tryAcquire()).as("shut for the evicted holder").isEmpty();
    callbacks.remove().run();
    assertFree(waiting, 0);
  }

  @Test
  void givenThreadThatWaits_whenItIsInterruptedWhileTheLockIsReleased_thenNothingIsLeft()
      throws Exception {
    LockClient holding = client();
    for (int round = 0; round < ROUNDS; round++) {
      Lease held = holding.lock(NAME).acquireWithin(BOUND);
      AtomicBoolean isUnexpected = new AtomicBoolean();
      Thread thread =
          new Thread(
              () -> {
                try {
                  waiting.lock(NAME).acquire().close();
                } catch (InterruptedException e) {
                  // One of the two racing outcomes.
                } catch (RuntimeException e) {
                  isUnexpected.set(true);
                }
              });
      thread.start();
      race(round, held::close, thread::interrupt);
      thread.join(BOUND.toMillis());
      assertThat(thread.isAlive() || isUnexpected.get()).as("round %d", round).isFalse();
      assertFree(holding, round);
    }
    assertNothingIsLeft();
  }

  @Test
  void givenCandidate_whenItIsClosedWhileTheLockIsReleased_thenItsLockIsFree() throws Exception {
    LockClient holding = client();
    for (int round = 0; round < ROUNDS; round++) {
      Lease held = holding.lock(NAME).acquireWithin(BOUND);
      Leadership candidate = waiting.leader(NAME, lead -> new CountDownLatch(1).await());
      race(round, held::close, candidate::close);
      assertThat(candidate.state()).isEqualTo(Leadership.CandidateState.CLOSED);
      assertFree(holding, round);
    }
    assertNothingIsLeft();
  }

  @ParameterizedTest
  @EnumSource
  void givenClient_whenItIsClosedWhileItsLockIsGranted_thenTheLockIsFree(Form form)
      throws Exception {
    for (int round = 0; round < CLIENT_ROUNDS; round++) {
      Lease held = waiting.lock(NAME).acquireWithin(BOUND);
      EngineClient closing = client();
      CompletableFuture<?> future = form.begin(closing);
      race(round, held::close, closing::close);
      assertFree(waiting, round);
      future.handle((granted, failure) -> "ended").get(BOUND.toSeconds(), TimeUnit.SECONDS);
      clients.remove(closing);
    }
    assertNothingIsLeft();
  }

  /** Runs both concurrently, each with a head start in half of the rounds. */
  private void race(int round, Runnable one, Runnable other) throws Exception {
    AtomicInteger missing = new AtomicInteger(2);
    long lead = round % LEADS;
    Future<?> begun =
        racer.submit(
            () -> {
              meet(missing, lead);
              one.run();
            });
    meet(missing, LEADS - lead);
    other.run();
    begun.get(BOUND.toSeconds(), TimeUnit.SECONDS);
  }

  private static void meet(AtomicInteger missing, long leads) {
    missing.decrementAndGet();
    while (missing.get() > 0) {
      LockSupport.parkNanos(10_000);
    }
    long begins = Ticker.SYSTEM.nanos() + leads * LEAD_NANOS;
    while (Ticker.SYSTEM.nanos() - begins < 0) {
      Thread.onSpinWait();
    }
  }

  private static void assertFree(LockClient client, int round) throws InterruptedException {
    for (String name : List.of(FIRST, NAME)) {
      assertThat(client.lock(name).tryAcquire(BOUND))
          .as("%s after round %d", name, round)
          .hasValueSatisfying(Lease::close);
    }
  }

  private void assertNothingIsLeft() {
    await().atMost(BOUND).until(() -> waiting.engine().footprint() == 0);
  }
}
