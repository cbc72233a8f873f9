package io.mortise.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.DistributedLock;
import io.mortise.Lease;
import io.mortise.LockOptions;
import io.mortise.internal.client.EngineClient;
import io.mortise.internal.queue.RequestQueue;
import io.mortise.internal.runtime.EngineEnv;
import io.mortise.internal.runtime.EngineRules;
import io.mortise.internal.runtime.EngineScheduler;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.StoreSession;
import io.mortise.spi.time.WallClock;
import io.mortise.support.memory.MemStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A free lock with a live waiter is granted within a bound that does not grow with the number of
 * waiters. Two processes, each of whose waiters has its own place in the queue, share a store that
 * serves requests sequentially, in virtual time.
 */
class CrowdTest {
  private static final Duration TTL = Duration.ofSeconds(15);

  /** The time of a request: a thousand polls in a third of the TTL keep the store busy. */
  private static final long SERVICE = 5 * VirtualTimeScheduler.MILLI;

  /** The sum of an abandon in service, the release, and a poll of each process before it. */
  private static final long BOUND = 6 * SERVICE;

  private static final EngineRules ALL_POLL =
      new EngineRules() {
        @Override
        public boolean restsBehindOthers() {
          return false;
        }
      };

  private static final EngineRules NOBODY_FOLLOWS =
      new EngineRules() {
        @Override
        public boolean pollsInPlaceOfOthers() {
          return false;
        }
      };

  private final VirtualTimeScheduler time = new VirtualTimeScheduler(1, false);
  private final MemStore table = new MemStore(time::now, WallClock.SYSTEM);
  private final List<CompletableFuture<Lease>> waits = new ArrayList<>();
  private int requests;
  private boolean pushesAreLost;
  private String incarnation = "first";
  private long freeSince = -1;
  private long longestGap;
  private int served;

  /** A server with a queue of requests. */
  private final class SlowStore extends InterceptingStore {
    private final RequestQueue<Runnable> queue;
    private final Function<Request, Request> order;
    private boolean serving;

    /**
     * @param order maps a request to the one shown to the queue
     */
    SlowStore(RequestQueue<Runnable> queue, Function<Request, Request> order) {
      super(table);
      this.queue = queue;
      this.order = order;
    }

    @Override
    void submit(StoreSession session, Request request, Consumer<Reply> sink) {
      queue.add(
          order.apply(request),
          () -> {
            requests++;
            session.submit(request, reply -> time.at(time.now(), () -> sink.accept(reply)));
          });
      serve();
    }

    private void serve() {
      if (!serving && !queue.isEmpty()) {
        serving = true;
        time.at(
            time.now() + SERVICE,
            () -> {
              serving = false;
              Runnable next = queue.poll();
              if (next != null) {
                next.run();
              }
              serve();
            });
      }
    }

    @Override
    CompletionStage<Renewal> renew(
        StoreSession session, long previous, long next, List<Long> seen) {
      return super.renew(session, previous, next, seen).thenApply(CrowdTest.this::told);
    }

    @Override
    void hint(Consumer<SessionNotification> hints, SessionNotification sessionNotification) {
      if (!pushesAreLost) {
        time.at(time.now(), () -> hints.accept(sessionNotification));
      }
    }
  }

  private Renewal told(Renewal renewal) {
    return renewal instanceof Renewal.Renewed renewed
        ? new Renewal.Renewed(
            renewed.storeMicros(),
            pushesAreLost ? List.of() : renewed.notifications(),
            !pushesAreLost && renewed.more(),
            incarnation)
        : renewal;
  }

  private DistributedLock fair(SlowStore store, String process, EngineRules rules) {
    return client(store, process, rules).lock("crowd", LockOptions.DEFAULTS.withFair(true));
  }

  private EngineClient client(SlowStore store, String process, EngineRules rules) {
    EngineScheduler timers = (delay, task) -> time.at(time.now() + Math.max(0, delay), task);
    EngineEnv env =
        new EngineEnv(
            time::now,
            timers,
            timers,
            task -> time.at(time.now(), task),
            () -> 0,
            new Random(process.hashCode()),
            rules,
            TTL,
            new ClientLabel("sim", 1, process));
    return new EngineClient(store, env, () -> {});
  }

  /** Sets up a held lock with this number of waiters. Returns the lease that frees it. */
  private Lease crowd(int waiters, EngineRules rules, Function<Request, Request> order) {
    SlowStore store = new SlowStore(new RequestQueue<>(), order);
    List<DistributedLock> locks = List.of(fair(store, "a", rules), fair(store, "b", rules));
    CompletableFuture<Lease> first = fair(store, "c", rules).acquireAsync();
    pass(Duration.ofSeconds(1));
    for (int i = 0; i < waiters; i++) {
      CompletableFuture<Lease> wait = locks.get(i % 2).acquireAsync();
      waits.add(wait);
      var unused =
          wait.thenCompose(
              lease -> {
                served++;
                longestGap = Math.max(longestGap, time.now() - freeSince);
                freeSince = time.now();
                return lease.releaseAsync();
              });
    }
    // All waiters are enqueued, and have polled once more.
    pass(Duration.ofNanos(waiters * SERVICE).plus(TTL));
    requests = 0;
    return first.join();
  }

  private void pass(Duration duration) {
    time.runUntil(time.now() + duration.toNanos());
  }

  private void free(Lease lease) {
    freeSince = time.now();
    var unused = lease.releaseAsync();
  }

  @ParameterizedTest
  @ValueSource(ints = {20, 2_000})
  void givenACrowd_whenTheLockIsPassedOn_thenTheNextHasItWithinTheBound(int waiters) {
    Lease lease = crowd(waiters, EngineRules.ALL, request -> request);

    free(lease);
    pass(Duration.ofNanos(waiters * BOUND));

    assertThat(served).isEqualTo(waiters);
    assertThat(Duration.ofNanos(longestGap)).isLessThanOrEqualTo(Duration.ofNanos(BOUND));
  }

  @Test
  void givenAllPollAStoreThatServesInOrder_whenTheLockIsFreed_thenTheBoundIsMissed() {
    Lease lease = crowd(2_000, ALL_POLL, request -> null);

    free(lease);
    pass(TTL);

    assertThat(served).isLessThan(5);
    assertThat(Duration.ofNanos(longestGap)).isGreaterThan(Duration.ofNanos(100 * BOUND));
  }

  @Test
  void givenAllPoll_whenEndsGoFirst_thenTheBoundHolds() {
    Lease lease = crowd(2_000, ALL_POLL, request -> request);

    free(lease);
    pass(TTL);

    assertThat(Duration.ofNanos(longestGap)).isLessThanOrEqualTo(Duration.ofNanos(BOUND));
  }

  @ParameterizedTest
  @ValueSource(ints = {20, 2_000})
  void givenACrowd_whenTheLockStaysHeld_thenAFewOfEachProcessPoll(int waiters) {
    crowd(waiters, EngineRules.ALL, request -> request);

    pass(TTL);

    // Each waiter polls three times in a TTL, or a little more often.
    assertThat(requests).isBetween(2 * 3 * 4, 2 * 4 * 4);
  }

  @Test
  void givenAllPoll_whenTheLockStaysHeld_thenTheStoreIsBusyWithThem() {
    crowd(2_000, ALL_POLL, request -> request);

    pass(TTL);

    assertThat(requests).isGreaterThan(1_500);
  }

  @Test
  void givenThoseThatPollLeave_whenPushesAreLost_thenOthersPollAndAreServed() {
    Lease lease = crowd(1_000, EngineRules.ALL, request -> request);
    waits.subList(0, 500).forEach(wait -> wait.cancel(false));
    pass(TTL);
    pushesAreLost = true;

    free(lease);
    pass(TTL.multipliedBy(5));

    // Each takes a third of a TTL: the head's poll finds the free lock, or that of a waiter behind
    // it.
    assertThat(served).isGreaterThanOrEqualTo(12);
  }

  @Test
  void givenNobodyFollows_whenThoseThatPollLeave_thenNobodyPolls() {
    crowd(1_000, NOBODY_FOLLOWS, request -> request);
    waits.subList(0, 500).forEach(wait -> wait.cancel(false));
    pass(Duration.ofSeconds(5));
    requests = 0;

    pass(TTL.multipliedBy(2));

    assertThat(requests).isZero();
  }

  @Test
  void givenManyWhoseGrantsNoPushTells_whenAPollFindsOne_thenTheOthersAskSoon() {
    SlowStore store = new SlowStore(new RequestQueue<>(), request -> request);
    CompletableFuture<Lease> writer =
        client(store, "c", EngineRules.ALL).readWriteLock("crowd").writeLock().acquireAsync();
    pass(Duration.ofSeconds(1));
    DistributedLock shared = client(store, "a", EngineRules.ALL).readWriteLock("crowd").readLock();
    for (int i = 0; i < 60; i++) {
      waits.add(shared.acquireAsync());
    }
    pass(Duration.ofSeconds(2));
    assertThat(waits).noneMatch(CompletableFuture::isDone);
    pushesAreLost = true;

    var unused = writer.join().releaseAsync();
    pass(TTL.dividedBy(3).plusSeconds(2));

    assertThat(waits).allMatch(CompletableFuture::isDone);
  }

  /** Each waiter polls too: its place in the queue may be lost. */
  @Test
  void givenACrowd_whenAnotherServerTakesOver_thenAHeldLockIsConfirmedWithinTheBound() {
    SlowStore store = new SlowStore(new RequestQueue<>(), request -> request);
    var other = fair(store, "b", EngineRules.ALL).acquireAsync();
    EngineClient client = client(store, "a", EngineRules.ALL);
    CompletableFuture<Lease> held = client.lock("held").acquireAsync();
    pass(Duration.ofSeconds(1));
    for (int i = 0; i < 1_000; i++) {
      waits.add(client.lock("crowd", LockOptions.DEFAULTS.withFair(true)).acquireAsync());
    }
    pass(TTL);

    incarnation = "second";
    Lease lease = held.join();
    pass(() -> !lease.isValid(), TTL);
    pass(lease::isValid, Duration.ofNanos(BOUND));

    assertThat(lease.isValid()).isTrue();
    assertThat(other).isCompleted();
    assertThat(waits).noneMatch(CompletableFuture::isDone);
  }

  private void pass(BooleanSupplier reached, Duration longest) {
    long end = time.now() + longest.toNanos();
    while (!reached.getAsBoolean() && time.now() < end) {
      time.runUntil(time.now() + VirtualTimeScheduler.MILLI);
    }
  }
}
