package io.mortise.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.mortise.DistributedLock;
import io.mortise.Lease;
import io.mortise.LockOptions;
import io.mortise.internal.client.EngineClient;
import io.mortise.internal.runtime.EngineRules;
import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.time.Ticker;
import io.mortise.support.memory.MemStore;
import io.mortise.support.table.TableRules;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Covers races invisible to {@link SimulationTest}: threads of several processes park, wake, hand
 * off, are interrupted and give up, on real locks and a real clock, over the store in memory.
 *
 * <p>The TTL is so long, for waiting processes too, that no poll or renewal makes up for a lost
 * wake-up: a thread then does not end in time.
 */
@Tag("extended")
class LocalHandoffStressTest {
  private static final Duration TTL = Duration.ofMinutes(5);
  private static final Duration RUN =
      Duration.ofMillis(Long.getLong("mortise.stress.millis", 4_000));
  private static final Duration LONGEST_WAIT = Duration.ofSeconds(20);

  /** Enough for a test that only has to detect an error. */
  private static final Duration SHORT = Duration.ofSeconds(1);

  /** The fewest critical sections of a fight, however slow the machine. */
  private static final long ENOUGH = 200;

  private static final FightEnd SHORT_FIGHT = new FightEnd(SHORT, 0);

  /** Random failures get several chances. */
  private static final int TRIES = 10;

  private final MemStore store =
      new MemStore(
          EnumSet.complementOf(EnumSet.of(Capability.VARIABLE_TTL)),
          Ticker.SYSTEM,
          System.currentTimeMillis() * 1000,
          TableRules.ALL);
  private final List<EngineClient> clients = new ArrayList<>();
  private final ConcurrentLinkedQueue<String> wrong = new ConcurrentLinkedQueue<>();
  private final AtomicLong sections = new AtomicLong();

  /** Guarded by the lock alone, without any other synchronization. */
  private long unguarded;

  private long lastToken;
  private int inside;

  @AfterEach
  void closeAll() {
    clients.forEach(EngineClient::close);
    store.close();
  }

  @Test
  void givenThreadsOfTwoProcesses_whenTheyFightForALock_thenItGoesFromOneToTheNext()
      throws Exception {
    fightWell(2, 4, LockOptions.DEFAULTS);
  }

  @Test
  void givenFairThreadsOfTwoProcesses_whenTheyFightForALock_thenItGoesFromOneToTheNext()
      throws Exception {
    fightWell(2, 4, LockOptions.DEFAULTS.withFair(true));
  }

  @Test
  void givenThreadsOfOneProcess_whenTheyFightForALock_thenItGoesFromHandToHand() throws Exception {
    fightWell(1, 6, LockOptions.DEFAULTS);
  }

  @Test
  void givenThreadsThatDoNotShareALock_thenTheTestNotices() throws Exception {
    AtomicInteger number = new AtomicInteger();
    for (int i = 0; i < TRIES && wrong.isEmpty(); i++) {
      fight(
          2, 4, store, client -> client.lock("own" + number.incrementAndGet()), SHORT_FIGHT, SHORT);
    }
    assertThat(wrong).contains("Two are inside.");
  }

  @Test
  void givenPushesThatAreLost_thenTheTestNotices() throws Exception {
    for (int i = 0; i < TRIES && wrong.isEmpty(); i++) {
      fightWithoutPushes("hot" + i);
    }
    assertThat(wrong).anyMatch(found -> found.startsWith("A wake-up was lost"));
  }

  private void fightWithoutPushes(String lock) throws Exception {
    AtomicInteger pushes = new AtomicInteger();
    LockStore lossy =
        new InterceptingStore(store) {
          @Override
          void hint(Consumer<SessionNotification> hints, SessionNotification sessionNotification) {
            if (pushes.incrementAndGet() <= 100) {
              hints.accept(sessionNotification);
            }
          }
        };
    fight(2, 4, lossy, client -> client.lock(lock), SHORT_FIGHT, SHORT);
  }

  private void fightWell(int processes, int threadsEach, LockOptions options) throws Exception {
    fight(
        processes,
        threadsEach,
        store,
        client -> client.lock("hot").with(options),
        new FightEnd(RUN, ENOUGH),
        LONGEST_WAIT);
    assertThat(wrong).isEmpty();
    assertThat(unguarded).isEqualTo(sections.get()).isGreaterThan(ENOUGH);
    for (EngineClient client : clients) {
      await().atMost(LONGEST_WAIT).until(() -> client.engine().footprint() == 0);
    }
  }

  /**
   * The end of a fight.
   *
   * @param run its minimum duration
   * @param enough its minimum of critical sections, for which a slow machine takes longer
   */
  private record FightEnd(Duration run, long enough) {
    boolean isAhead(long nanos, long sections) {
      return nanos < run.toNanos()
          || (sections <= enough && nanos < run.plus(LONGEST_WAIT).toNanos());
    }
  }

  private void fight(
      int processes,
      int threadsEach,
      LockStore between,
      Function<EngineClient, DistributedLock> locks,
      FightEnd fightEnd,
      Duration longestWait)
      throws Exception {
    List<Thread> threads = new ArrayList<>();
    long began = System.nanoTime();
    BooleanSupplier goesOn = () -> fightEnd.isAhead(System.nanoTime() - began, sections.get());
    for (int process = 0; process < processes; process++) {
      EngineClient client = InterceptingStore.client(between, "p" + process, TTL, EngineRules.ALL);
      clients.add(client);
      for (int i = 0; i < threadsEach; i++) {
        long seed = process * 100L + i;
        DistributedLock lock = locks.apply(client);
        threads.add(new Thread(() -> work(lock, seed, goesOn)));
      }
    }
    threads.forEach(Thread::start);
    SplittableRandom random = new SplittableRandom(7);
    while (goesOn.getAsBoolean()) {
      Thread.sleep(1);
      threads.get(random.nextInt(threads.size())).interrupt();
    }
    for (Thread thread : threads) {
      thread.join(longestWait.toMillis());
      if (thread.isAlive()) {
        wrong.add("A wake-up was lost: " + List.of(thread.getStackTrace()));
        thread.interrupt();
        thread.join(longestWait.toMillis());
      }
    }
  }

  private void work(DistributedLock lock, long seed, BooleanSupplier goesOn) {
    SplittableRandom random = new SplittableRandom(seed);
    try {
      while (goesOn.getAsBoolean()) {
        Lease lease = acquire(lock, random);
        if (lease != null) {
          section(lease, random);
          if (random.nextBoolean()) {
            lease.close();
          } else {
            CompletableFuture<Void> released = lease.releaseAsync();
            assertThat(released).isNotNull();
          }
        }
      }
    } catch (RuntimeException | AssertionError e) {
      wrong.add(String.valueOf(e));
    }
  }

  private static Lease acquire(DistributedLock lock, SplittableRandom random) {
    try {
      return switch (random.nextInt(6)) {
        case 0 -> lock.tryAcquire().orElse(null);
        case 1 -> orNull(lock.tryAcquire(Duration.ofNanos(random.nextLong(2_000_000))));
        case 2 -> async(lock, random);
        default -> lock.acquire();
      };
    } catch (InterruptedException e) {
      // Meant to disturb waits, not to end the thread.
      return null;
    }
  }

  private static Lease orNull(Optional<Lease> lease) {
    return lease.orElse(null);
  }

  /** Waits for a moment, then cancels: before, during or after the grant. */
  private static Lease async(DistributedLock lock, SplittableRandom random) {
    CompletableFuture<Lease> future = lock.acquireAsync();
    long until = System.nanoTime() + random.nextLong(1_000_000);
    while (!future.isDone() && until - System.nanoTime() > 0) {
      Thread.onSpinWait();
    }
    future.cancel(false);
    try {
      return future.join();
    } catch (CancellationException | CompletionException e) {
      return null;
    }
  }

  private void section(Lease lease, SplittableRandom random) {
    if (inside++ != 0) {
      wrong.add("Two are inside.");
    }
    if (lease.token() <= lastToken) {
      wrong.add("Token " + lease.token() + " came after " + lastToken + ".");
    }
    lastToken = lease.token();
    unguarded++;
    for (int i = random.nextInt(200); i > 0; i--) {
      Thread.onSpinWait();
    }
    if (--inside != 0) {
      wrong.add("Two were inside.");
    }
    sections.incrementAndGet();
  }
}
