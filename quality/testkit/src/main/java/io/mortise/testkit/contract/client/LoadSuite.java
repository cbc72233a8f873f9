package io.mortise.testkit.contract.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.DistributedLock;
import io.mortise.DistributedReadWriteLock;
import io.mortise.DistributedSemaphore;
import io.mortise.Lease;
import io.mortise.StoreUnavailableException;
import io.mortise.admin.LockQuery;
import io.mortise.spi.Capability;
import io.mortise.spi.Mode;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.PauseDetector;
import io.mortise.testkit.StoreUnderTest;
import io.mortise.testkit.history.AttemptEvent;
import io.mortise.testkit.history.HistoryChecks;
import io.mortise.testkit.history.HistoryRecorder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Many concurrent threads and processes, whose beliefs are recorded and judged afterwards. */
class LoadSuite extends ClientSuite {
  LoadSuite(StoreUnderTest under) {
    super(under);
  }

  private static final Duration LASTING = Duration.ofSeconds(60);

  /** Fewer holds would prove little. */
  private static final int ENOUGH = 20;

  private final AtomicInteger attempts = new AtomicInteger();
  private final HistoryRecorder history = new HistoryRecorder();

  @Test
  @Tag("exclusion")
  void givenThreadsOfThreeProcesses_thenWhatTheyBelieveNeverOverlaps_andTokensRise() {
    List<Peer> processes = List.of(lasting("a"), lasting("b"), lasting("c"));
    int[] counter = new int[1];
    AtomicInteger counted = new AtomicInteger();
    long began = System.nanoTime();
    long end = began + Duration.ofSeconds(3).toNanos();
    List<Future<?>> threads = new ArrayList<>();
    for (Peer process : processes) {
      for (int t = 0; t < 3; t++) {
        threads.add(
            start(
                () -> {
                  while (System.nanoTime() < end || goesOn(counted, began)) {
                    if (use(process, "mutex", process.lock(), Mode.EXCLUSIVE, () -> counter[0]++)) {
                      counted.incrementAndGet();
                    }
                  }
                  return true;
                }));
      }
    }
    threads.forEach(ClientSuite::get);
    assertThat(HistoryChecks.all(history.events(), false)).isEmpty();
    assertThat(counter[0]).as("increments under the lock, none lost").isEqualTo(counted.get());
    assertThat(counted.get()).isGreaterThanOrEqualTo(ENOUGH);
    assertNothingLeft(LOCK);
  }

  @Test
  @Tag("exclusion")
  void givenReadersWritersAndPermits_thenWhatTheyBelieveIsCompatible() {
    needs(Capability.SHARED, Capability.PERMITS);
    List<Peer> processes = List.of(lasting("a"), lasting("b"));
    long end = System.nanoTime() + Duration.ofSeconds(3).toNanos();
    List<Future<?>> threads = new ArrayList<>();
    for (Peer process : processes) {
      DistributedReadWriteLock lock = process.client().readWriteLock(LOCK);
      DistributedSemaphore semaphore = process.client().semaphore("permits", 3);
      for (int t = 0; t < 3; t++) {
        threads.add(
            start(
                () -> {
                  ThreadLocalRandom random = ThreadLocalRandom.current();
                  while (System.nanoTime() < end) {
                    switch (random.nextInt(4)) {
                      case 0 -> use(process, "rw", lock.writeLock(), Mode.EXCLUSIVE, () -> {});
                      case 1 -> use(process, "rw", lock.readLock(), Mode.SHARED, () -> {});
                      default -> {
                        int k = 1 + random.nextInt(3);
                        use(process, "permits", semaphore.permits(k), Mode.permits(k, 3), () -> {});
                      }
                    }
                  }
                  return true;
                }));
      }
    }
    threads.forEach(ClientSuite::get);
    assertThat(HistoryChecks.all(history.events(), false)).isEmpty();
    assertNothingLeft(LOCK, "permits");
  }

  /** A process whose leases are always valid, so that it does not check them. */
  private Peer lasting(String name) {
    return peer(name, LASTING);
  }

  /** Whether to continue; a store that paused for a while gets more time. */
  private static boolean goesOn(AtomicInteger counted, long began) {
    return counted.get() < ENOUGH && elapsed(began).compareTo(BoundedWait.scaled(LONG)) < 0;
  }

  /**
   * Tries to acquire. A missing answer is allowed only after a pause of the machine or the store.
   */
  private static @Nullable Lease tried(Callable<Optional<Lease>> attempt) throws Exception {
    long before = PauseDetector.lostNanos();
    try {
      return attempt.call().orElse(null);
    } catch (StoreUnavailableException e) {
      BoundedWait.pass(Duration.ofMillis(100)); // the pause detector has to wake up too
      if (PauseDetector.lostNanos() == before) {
        throw e;
      }
      return null;
    }
  }

  /** Acquires in one of several ways, and records the beliefs of this thread. */
  private boolean use(Peer process, String lock, DistributedLock locks, Mode mode, Runnable body)
      throws Exception {
    String id = "#" + attempts.incrementAndGet();
    ThreadLocalRandom random = ThreadLocalRandom.current();
    history.add(
        new AttemptEvent.AttemptAsked(
            System.nanoTime(), id, process.client().toString(), lock, mode));
    Lease lease =
        switch (random.nextInt(4)) {
          case 0 -> tried(locks::tryAcquire);
          case 1 -> tried(() -> locks.tryAcquire(Duration.ofMillis(random.nextInt(1, 20))));
          default -> locks.acquireWithin(LONG);
        };
    if (lease == null) {
      return false;
    }
    long token = can(Capability.TOKEN) ? lease.token() : 0;
    history.add(new AttemptEvent.AttemptGranted(System.nanoTime(), id, token, Long.MAX_VALUE));
    body.run();
    if (random.nextInt(8) == 0) {
      BoundedWait.pass(Duration.ofMillis(1));
    }
    history.add(new AttemptEvent.AttemptReleased(System.nanoTime(), id));
    lease.close();
    return true;
  }

  @Test
  @Timeout(120)
  void givenThousandsOfCycles_thenNoThreadAndNoEntryIsLeft() throws Exception {
    Peer warm = peer("warm");
    isFree(warm.lock());
    BoundedWait.pass(Duration.ofMillis(100));
    Set<Thread> before = Thread.getAllStackTraces().keySet();
    Peer a = peer("a");
    isFree(a.lock());
    int started = newThreads(before).size();
    long end = System.nanoTime() + Duration.ofSeconds(8).toNanos();
    String[] names = {"n0", "n1", "n2", "n3", "n4"};
    for (int i = 0; i < 5000 && System.nanoTime() < end; i++) {
      a.client().lock(names[i % names.length]).acquireWithin(LONG).close();
    }
    assertThat(newThreads(before).size())
        .as("threads do not grow")
        .isLessThanOrEqualTo(started + 3);
    assertNothingLeft(names);
    a.client().close();
    for (int i = 0; i < 5; i++) {
      Peer another = peer("another");
      isFree(another.lock());
      another.client().close();
    }
    // The client from before may have started some meanwhile.
    BoundedWait.until(
        LONG,
        "threads ended with their clients: " + newThreads(before),
        () -> newThreads(before).size() <= 3);
    if (under.listsLocks()) {
      assertThat(BoundedWait.join(store().inspect(LockQuery.all())).items()).isEmpty();
    }
  }

  private static List<String> newThreads(Set<Thread> before) {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> !before.contains(thread))
        .map(Thread::getName)
        // Threads of the JVM and of the test's own delays.
        .filter(name -> !name.startsWith("ForkJoinPool") && !name.startsWith("CompletableFuture"))
        .filter(name -> !name.startsWith("junit") && !name.startsWith("Attach"))
        .toList();
  }

  @Test
  void givenThousandVirtualThreads_thenEachHoldsOnce() throws Exception {
    Executor virtual = virtualThreads();
    List<Peer> peers = List.of(peer("a"), peer("b"));
    int[] counter = new int[1];
    CountDownLatch done = new CountDownLatch(1000);
    for (int i = 0; i < 1000; i++) {
      DistributedLock lock = peers.get(i % 2).lock();
      virtual.execute(
          () -> {
            try {
              Lease lease = lock.acquireWithin(BoundedWait.scaled(LONG.multipliedBy(4)));
              counter[0]++;
              lease.close();
              done.countDown();
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
          });
    }
    assertThat(done.await(BoundedWait.scaled(LONG.multipliedBy(4)).toSeconds(), TimeUnit.SECONDS))
        .as("%s are left", done.getCount())
        .isTrue();
    assertThat(counter[0]).isEqualTo(1000);
    assertNothingLeft(LOCK);
  }

  /** By reflection: this is compiled for Java 17. */
  private static Executor virtualThreads() throws ReflectiveOperationException {
    Assumptions.assumeTrue(Runtime.version().feature() >= 21, "no virtual threads before Java 21");
    return (Executor) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
  }

  @Test
  void givenOneConnectionAndManyNames_thenEachWaitsForItsOwnOnly() throws Exception {
    Peer a = peer("a");
    Peer b = peer("b");
    List<Lease> held = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      held.add(a.client().lock("n" + i).acquireWithin(LONG));
    }
    List<Future<Lease>> waits = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      waits.add(b.client().lock("n" + i).acquireAsync(LONG.multipliedBy(3)));
    }
    for (int i = 49; i >= 0; i--) {
      held.get(i).close();
      get(waits.get(i)).close();
    }
    for (int i = 0; i < 50; i++) {
      assertNothingLeft("n" + i);
    }
  }
}
