package io.mortise.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.internal.client.EngineClient;
import io.mortise.internal.runtime.EngineEnv;
import io.mortise.internal.runtime.EngineRules;
import io.mortise.internal.runtime.EngineScheduler;
import io.mortise.spi.Capability;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.LockStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A client that releases a lock and requests it again in the same moment, and others that wait. On
 * virtual time and one thread, so that no retry of a waiter meets a free lock by chance.
 */
@Timeout(60)
class ReacquireFairnessTest {
  private static final long MILLI = 1_000_000;
  private static final long SECOND = 1_000_000_000;
  private static final String LOCK = "x";

  private final PriorityQueue<ScheduledTask> tasks =
      new PriorityQueue<>(
          Comparator.comparingLong(ScheduledTask::time).thenComparingLong(ScheduledTask::number));
  private final List<EngineClient> clients = new ArrayList<>();
  private final List<LockStore> opened = new ArrayList<>();
  private List<LockStore> members = List.of();
  private long now = SECOND;
  private long count;

  private record ScheduledTask(long time, long number, Runnable task) {}

  /** Takes the lock again and again. */
  private final class Contender {
    private final EngineClient client;
    private final long hold;
    private final long think;
    int holds;
    long longestWait;

    /** Begins at once. */
    Contender(EngineClient client, long hold, long think) {
      this.client = client;
      this.hold = hold;
      this.think = think;
      acquire();
    }

    private void acquire() {
      long asked = now;
      var unused =
          client
              .lock(LOCK)
              .acquireAsync()
              .thenAccept(
                  lease -> {
                    holds++;
                    longestWait = Math.max(longestWait, now - asked);
                    after(hold, () -> release(lease));
                  });
    }

    private void release(Lease lease) {
      var unused = lease.releaseAsync();
      if (think == 0) {
        acquire();
      } else {
        after(think, this::acquire);
      }
    }
  }

  @AfterEach
  void closeAll() {
    clients.forEach(EngineClient::close);
    opened.forEach(LockStore::close);
    members.forEach(LockStore::close);
  }

  private void after(long nanos, Runnable task) {
    tasks.add(new ScheduledTask(now + nanos, count++, task));
  }

  private void pass(long nanos) {
    long end = now + nanos;
    while (!tasks.isEmpty() && tasks.peek().time() <= end) {
      ScheduledTask next = tasks.remove();
      now = Math.max(now, next.time());
      next.task().run();
    }
    now = end;
  }

  /** A process of its own, with an open session. */
  private EngineClient client(int seed) {
    if (members.isEmpty()) {
      members =
          MemMembers.stores(EnumSet.allOf(Capability.class), () -> now, 1_700_000_000_000_000L);
    }
    LockStore store = QuorumLockStore.over(members, MemMembers.PATIENT, QuorumRules.ALL, () -> now);
    opened.add(store);
    EngineScheduler timers =
        (delay, task) -> {
          ScheduledTask later = new ScheduledTask(now + Math.max(0, delay), count++, task);
          tasks.add(later);
          return () -> tasks.remove(later);
        };
    EngineClient client =
        new EngineClient(
            store,
            new EngineEnv(
                () -> now,
                timers,
                timers,
                Runnable::run,
                () -> 0,
                new Random(seed),
                EngineRules.ALL,
                Duration.ofSeconds(10),
                new ClientLabel("-", 1, "process " + seed)),
            () -> {});
    clients.add(client);
    CompletableFuture<Lease> first = client.lock("warm").acquireAsync();
    pass(SECOND);
    var unused = first.join().releaseAsync();
    return client;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5})
  void givenProcessThatReacquiresAtOnce_whenAnotherWaits_thenItGetsTheLockAgainAndAgain(int seed) {
    EngineClient hog = client(seed);
    EngineClient other = client(seed + 100);
    Contender hogging = new Contender(hog, 20 * MILLI, 0);
    Contender waiting = new Contender(other, 20 * MILLI, 20 * MILLI);

    pass(20 * SECOND);

    assertThat(waiting.holds).isGreaterThan(30);
    assertThat(waiting.longestWait).isLessThan(6 * SECOND);
    assertThat(hogging.holds).isGreaterThan(200);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5})
  void givenProcessesThatAllReacquireAtOnce_thenEachGetsTheLock(int seed) {
    List<Contender> contenders = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      contenders.add(new Contender(client(seed * 10 + i), 300 * MILLI, 0));
    }

    pass(180 * SECOND);

    assertThat(contenders)
        .allSatisfy(
            contender -> {
              assertThat(contender.holds).isGreaterThan(20);
              assertThat(contender.longestWait).isLessThan(40 * SECOND);
            });
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5})
  void givenWaiterThatRetriesSeldom_whenAnotherReacquiresAtOnce_thenTheWaiterGetsTheLock(int seed) {
    EngineClient first = client(seed);
    EngineClient hog = client(seed + 100);
    EngineClient other = client(seed + 200);
    Lease longHold = first.lock(LOCK).tryAcquire().orElseThrow();
    CompletableFuture<Lease> waiting = other.lock(LOCK).acquireAsync();
    pass(8 * SECOND);
    var unused = longHold.releaseAsync();
    Contender hogging = new Contender(hog, 5 * MILLI, 0);

    pass(10 * SECOND);

    assertThat(hogging.holds).isPositive();
    assertThat(waiting).isCompleted();
  }

  @Test
  void givenNobodyElseWantsTheLock_thenItIsTakenAgainInTheSameMoment() {
    EngineClient alone = client(1);
    long begun = now;
    for (int i = 0; i < 100; i++) {
      Lease lease = alone.lock(LOCK).acquireAsync().getNow(null);
      assertThat(lease).isNotNull();
      var unused = lease.releaseAsync();
    }
    assertThat(now).isEqualTo(begun);
  }

  @Test
  void givenLockLeftToOthers_whenAskedForWithoutWaiting_thenTheStoreIsAskedAtOnce() {
    EngineClient hog = afterContention();
    Optional<Lease> taken = hog.lock(LOCK).tryAcquire();
    assertThat(taken).isPresent();
    taken.get().close();
  }

  @Test
  void givenLockLeftToOthers_whenAskedForWithAShortWait_thenThatIsLongEnough() {
    EngineClient hog = afterContention();
    CompletableFuture<Lease> taken = hog.lock(LOCK).acquireAsync(Duration.ofMillis(20));
    assertThat(taken).isNotDone();
    pass(20 * MILLI);
    assertThat(taken).isCompleted();
  }

  @Test
  void givenLockLeftToOthers_whenNobodyTakesIt_thenItIsTakenHalfASecondLaterAtMost() {
    EngineClient hog = afterContention();
    CompletableFuture<Lease> taken = hog.lock(LOCK).acquireAsync();
    assertThat(taken).isNotDone();
    pass(500 * MILLI);
    assertThat(taken).isCompleted();
  }

  /** A process that has just released the lock after another waited for it, and gave up. */
  private EngineClient afterContention() {
    EngineClient hog = client(1);
    EngineClient other = client(2);
    Lease lease = hog.lock(LOCK).tryAcquire().orElseThrow();
    CompletableFuture<Lease> waiting = other.lock(LOCK).acquireAsync();
    pass(SECOND);
    waiting.cancel(false);
    var unused = lease.releaseAsync();
    return hog;
  }
}
