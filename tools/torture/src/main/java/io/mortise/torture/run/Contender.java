package io.mortise.torture.run;

import io.mortise.DistributedLock;
import io.mortise.Lease;
import io.mortise.LeaseInDoubtException;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.LockException;
import io.mortise.LockOptions;
import io.mortise.LockTimeoutException;
import io.mortise.UnsupportedByStoreException;
import io.mortise.admin.StoreInfo.Feature;
import io.mortise.torture.history.EventKind;
import io.mortise.torture.history.HistoryChecker;
import io.mortise.torture.history.HistoryEvent;
import io.mortise.torture.history.HistoryWriter;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A thread that acquires and releases locks, records its observations, and sometimes updates the
 * guarded resources. For one thread.
 */
final class Contender {
  /** Prefix of locks wanted by all. */
  static final String HOT = "hot-";

  private static final LockOptions STAYS = LockOptions.DEFAULTS.withSticky(HistoryChecker.IDLE);

  /** One in this many acquires of sticky locks is of another process's lock. */
  private static final int DISTURBS = 8;

  private static final Duration WAIT = Duration.ofSeconds(10);

  /** One in this many updates is slow. */
  private static final int SELDOM = 16;

  /** The least time between an unguarded read and write; at most twice that. */
  private static final int THOUGHT_MILLIS = 100;

  private static final int LOOK_MILLIS = 20;

  private final LockClient locks;
  private final ResourceClient resource;
  private final HistoryWriter history;
  private final int worker;
  private final LockCounts lockCounts;
  private final Duration ttl;
  private final Random random;
  private final boolean hasTokens;
  private long attempt;

  Contender(
      LockClient locks,
      ResourceClient resource,
      HistoryWriter history,
      int worker,
      LockCounts lockCounts,
      Duration ttl,
      long seed) {
    this.locks = locks;
    this.resource = resource;
    this.history = history;
    this.worker = worker;
    this.lockCounts = lockCounts;
    this.ttl = ttl;
    this.random = new Random(seed);
    this.hasTokens = locks.admin().store().has(Feature.FENCING_TOKENS);
  }

  /**
   * The numbers of locks.
   *
   * @param hot wanted by all
   * @param sticky kept idle by a process
   */
  record LockCounts(int hot, int sticky) {}

  /**
   * A grant, with the token read once, since a lost lease no longer reports it. The token is 0 if
   * the store has none: the resource is then unguarded.
   */
  private record ContenderGrant(Lease lease, long token) {
    boolean isValid() {
      return lease.isValid();
    }
  }

  /** Returns the grant; null if it was lost before its token was read. */
  private @Nullable ContenderGrant granted(Lease lease, String lock) {
    try {
      return new ContenderGrant(lease, hasTokens ? lease.token() : 0);
    } catch (LeaseLostException | LeaseInDoubtException e) {
      log(EventKind.STALE, lock, 0, 0);
      release(lease, lock);
      return null;
    }
  }

  /** Work under a lock. */
  private interface CriticalSection {
    void run(ContenderGrant held) throws IOException, InterruptedException;
  }

  /** Works under a lock, if it was granted, records what is seen before and after, and releases. */
  private void use(@Nullable ContenderGrant lease, String lock, CriticalSection work)
      throws IOException, InterruptedException {
    if (lease != null) {
      if (sees(lease, lock)) {
        work.run(lease);
        stillSees(lease, lock);
      }
      release(lease.lease(), lock);
    }
  }

  private void log(EventKind eventKind, String lock, long token, int more) {
    log(System.nanoTime(), eventKind, lock, token, more);
  }

  private void log(long nanos, EventKind eventKind, String lock, long token, int more) {
    history.add(new HistoryEvent(nanos, eventKind, worker, lock, attempt, token, more));
  }

  /** Contends for locks that all want, for sticky ones, and for one that only it wants. */
  void contend(BooleanSupplier goOn) throws IOException, InterruptedException {
    while (goOn.getAsBoolean()) {
      String lock =
          switch (random.nextInt(4)) {
            case 0 -> HistoryChecker.OWN + worker;
            case 1 -> sticky();
            default -> HOT + random.nextInt(lockCounts.hot());
          };
      attempt++;
      ContenderGrant lease = acquire(lock, random.nextInt(8) == 0);
      use(
          lease,
          lock,
          held -> {
            if (random.nextInt(4) == 0) {
              updateGuarded(lock, held, random.nextInt(SELDOM) == 0 ? thought() : 0);
            }
          });
    }
  }

  /** Returns the name of a sticky lock: mostly its process's own, sometimes another's. */
  private String sticky() {
    boolean disturbs = random.nextInt(DISTURBS) == 0;
    int home = worker / HistoryEvent.PROCESS;
    return HistoryChecker.STICKY
        + (disturbs
            ? random.nextInt(lockCounts.sticky())
            : Math.floorMod(home, lockCounts.sticky()));
  }

  /**
   * Acquires a fair lock for a moment each time. Inspects the store until its queue shows the wait,
   * to know the order. A store without a queue shows none, and keeps no order between processes.
   */
  void waitFairly(BooleanSupplier goOn) throws IOException, InterruptedException {
    String lock = HistoryChecker.FAIR + 0;
    while (goOn.getAsBoolean()) {
      attempt++;
      ContenderGrant lease = null;
      try {
        lease = acquireFairly(lock);
      } catch (UnsupportedByStoreException e) {
        // The store refuses fair locks: record an outcome.
        log(EventKind.TIMED_OUT, lock, 0, 0);
        return;
      }
      use(lease, lock, held -> Thread.sleep(1 + random.nextInt(10)));
    }
  }

  private @Nullable ContenderGrant acquireFairly(String lock) throws InterruptedException {
    String label = worker + "-" + attempt;
    boolean looks = locks.admin().store().has(Feature.QUEUE);
    DistributedLock fair =
        locks.lock(lock).with(LockOptions.DEFAULTS.withFair(looks).withLabel(label));
    log(EventKind.ASKS, lock, 0, 0);
    CompletableFuture<Lease> asked = fair.acquireAsync(WAIT);
    while (!asked.isDone() && looks) {
      // A granted wait does not wait for a stuck inspection.
      CompletableFuture<Boolean> look =
          CompletableFuture.supplyAsync(() -> isShown(lock, label), Contender::aside);
      awaitOne(asked, look);
      looks = !look.isDone() || !look.join();
      if (!looks) {
        log(EventKind.QUEUED, lock, 0, 0);
      }
    }
    try {
      return granted(asked.get(), lock);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof UnsupportedByStoreException unsupported) {
        throw unsupported;
      }
      boolean late = e.getCause() instanceof LockTimeoutException;
      log(late ? EventKind.TIMED_OUT : EventKind.OUTAGE, lock, 0, 0);
      LockSupport.parkNanos(20_000_000);
      return null;
    }
  }

  private static void aside(Runnable look) {
    Thread thread = new Thread(look, "torture-look");
    thread.setDaemon(true);
    thread.start();
  }

  /** Waits until one of them is completed in any way. */
  private static void awaitOne(CompletableFuture<?> one, CompletableFuture<?> other)
      throws InterruptedException {
    try {
      CompletableFuture.anyOf(one, other).get();
    } catch (ExecutionException e) {
      // Reported to the caller that reads the result.
    }
  }

  private boolean isShown(String lock, String label) {
    try {
      return locks
          .admin()
          .find(lock)
          .map(view -> view.waiters().stream().anyMatch(waiter -> waiter.label().equals(label)))
          .orElse(false);
    } catch (LockException e) {
      LockSupport.parkNanos(20_000_000);
      return false;
    }
  }

  /**
   * Holds a lock that only it wants, until it is lost: then its process could not renew, and its
   * waiters have lost their places in queues, which no other event shows.
   */
  void keepHolding(BooleanSupplier goOn) throws IOException, InterruptedException {
    String lock = HistoryChecker.OWN + worker;
    while (goOn.getAsBoolean()) {
      attempt++;
      ContenderGrant lease = acquire(lock, false);
      use(
          lease,
          lock,
          held -> {
            while (goOn.getAsBoolean() && held.isValid()) {
              Thread.sleep(LOOK_MILLIS);
            }
          });
    }
  }

  /** A lock of Mortise with a resource that ignores tokens: must break under a pause. */
  void writeUnfenced(BooleanSupplier goOn) throws IOException, InterruptedException {
    String lock = HistoryChecker.OPEN + 0;
    while (goOn.getAsBoolean()) {
      attempt++;
      ContenderGrant lease = acquire(lock, false);
      use(lease, lock, held -> updateUnguarded(lock));
    }
  }

  /** A lock with an expiry but without an owner: must break under a pause. */
  void lockNaively(BooleanSupplier goOn) throws IOException, InterruptedException {
    String lock = HistoryChecker.NAIVE + 0;
    while (goOn.getAsBoolean()) {
      attempt++;
      log(EventKind.ASKS, lock, 0, 0);
      while (!resource.take(lock, ttl.toMillis())) {
        LockSupport.parkNanos(2_000_000);
      }
      log(EventKind.HOLDS, lock, 0, 0);
      updateUnguarded(lock);
      log(EventKind.SURE, lock, 0, 0);
      resource.drop(lock);
      log(EventKind.GAVE, lock, 0, 0);
    }
  }

  /** Waits for a lock in a process that holds no other; holds it for a moment each time. */
  void waitInQueue(BooleanSupplier goOn) throws IOException, InterruptedException {
    String lock = HistoryChecker.QUEUE + 0;
    while (goOn.getAsBoolean()) {
      attempt++;
      ContenderGrant lease = acquire(lock, false);
      use(lease, lock, held -> updateGuarded(lock, held, stay()));
    }
  }

  /** A queue that waits for dead processes: must cause delays when a waiter is killed. */
  void waitInNaiveQueue(BooleanSupplier goOn) throws IOException, InterruptedException {
    String lock = HistoryChecker.NAIVE_QUEUE + 0;
    while (goOn.getAsBoolean()) {
      attempt++;
      log(EventKind.ASKS, lock, 0, 0);
      while (!resource.stand(lock, ttl.toMillis())) {
        LockSupport.parkNanos(10_000_000);
      }
      log(EventKind.HOLDS, lock, 0, 0);
      long value = resource.enter(lock, 0);
      Thread.sleep(stay());
      resource.write(lock, 0, value + 1);
      log(EventKind.SURE, lock, 0, 0);
      resource.leave(lock);
      log(EventKind.GAVE, lock, 0, 0);
    }
  }

  private @Nullable ContenderGrant acquire(String lock, boolean once) throws InterruptedException {
    log(EventKind.ASKS, lock, 0, once ? 1 : 0);
    try {
      DistributedLock wanted = locks.lock(lock);
      if (lock.startsWith(HistoryChecker.STICKY) && locks.admin().store().has(Feature.STICKY)) {
        wanted = wanted.with(STAYS);
      }
      if (!once) {
        return granted(wanted.acquireWithin(WAIT), lock);
      }
      Optional<Lease> lease = wanted.tryAcquire();
      if (lease.isEmpty()) {
        log(EventKind.BUSY, lock, 0, 0);
        return null;
      }
      return granted(lease.get(), lock);
    } catch (LockTimeoutException e) {
      log(EventKind.TIMED_OUT, lock, 0, 0);
    } catch (LockException e) {
      log(EventKind.OUTAGE, lock, 0, 0);
      LockSupport.parkNanos(20_000_000);
    }
    return null;
  }

  /** Whether it believes that it holds; if so, it did at the recorded time. */
  private boolean sees(ContenderGrant lease, String lock) {
    boolean valid = lease.isValid();
    log(valid ? EventKind.HOLDS : EventKind.STALE, lock, lease.token(), 0);
    return valid;
  }

  private void stillSees(ContenderGrant lease, String lock) {
    long before = System.nanoTime();
    boolean valid = lease.isValid();
    log(before, valid ? EventKind.SURE : EventKind.LOST, lock, lease.token(), 0);
  }

  private void release(Lease lease, String lock) {
    try {
      lease.close();
      log(EventKind.GAVE, lock, 0, 0);
    } catch (LeaseLostException e) {
      log(EventKind.GAVE_LOST, lock, 0, 0);
    } catch (LockException e) {
      // Only the store knows its outcome.
      log(EventKind.GAVE_LOST, lock, 0, 1);
    }
  }

  private void updateGuarded(String lock, ContenderGrant lease, int thoughtMillis)
      throws IOException, InterruptedException {
    long token = lease.token();
    long value = resource.enter(lock, token);
    if (value >= 0) {
      Thread.sleep(thoughtMillis);
    }
    boolean taken = value >= 0 && resource.write(lock, token, value + 1);
    if (taken) {
      log(EventKind.WROTE, lock, token, 0);
    } else {
      log(EventKind.REFUSED, lock, token, lease.isValid() ? 1 : 0);
    }
  }

  private void updateUnguarded(String lock) throws IOException, InterruptedException {
    long value = resource.enter(lock, 0);
    Thread.sleep(thought());
    resource.write(lock, 0, value + 1);
    log(EventKind.WROTE, lock, 0, 0);
  }

  /**
   * The duration of a hold: long enough for the kill of another process, and shorter than a TTL.
   */
  private int stay() {
    int least = Math.toIntExact(ttl.toMillis() / 10);
    return least + random.nextInt(least + 1);
  }

  private int thought() {
    return THOUGHT_MILLIS + random.nextInt(THOUGHT_MILLIS);
  }
}
