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
 * A thread that takes locks and gives them back, writes down what it sees, and now and then changes
 * what they guard. For one thread.
 */
final class Contender {
  /** Locks whose names begin so are wanted by all. */
  static final String HOT = "hot-";

  private static final LockOptions STAYS = LockOptions.DEFAULTS.withSticky(HistoryChecker.IDLE);

  /** One visit of a sticky lock in so many is to that of another process. */
  private static final int DISTURBS = 8;

  private static final Duration WAIT = Duration.ofSeconds(10);

  /** One update of so many takes its time. */
  private static final int SELDOM = 16;

  /** How long it thinks, and at most as long again, between reading and writing unguarded. */
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
   * How many locks there are.
   *
   * @param hot that all want
   * @param sticky that stay with a process
   */
  record LockCounts(int hot, int sticky) {}

  /**
   * What it was given; the token is asked for once, since a lost lease tells it no more. It is 0
   * where the store has none: then nothing guards what the lock is for.
   */
  private record ContenderGrant(Lease lease, long token) {
    boolean isValid() {
      return lease.isValid();
    }
  }

  /** Null if it was lost before anybody could look at it. */
  private @Nullable ContenderGrant granted(Lease lease, String lock) {
    try {
      return new ContenderGrant(lease, hasTokens ? lease.token() : 0);
    } catch (LeaseLostException | LeaseInDoubtException e) {
      log(EventKind.STALE, lock, 0, 0);
      release(lease, lock);
      return null;
    }
  }

  private void log(EventKind eventKind, String lock, long token, int more) {
    log(System.nanoTime(), eventKind, lock, token, more);
  }

  private void log(long nanos, EventKind eventKind, String lock, long token, int more) {
    history.add(new HistoryEvent(nanos, eventKind, worker, lock, attempt, token, more));
  }

  /** Locks that all want, sticky ones, and one that only it wants. */
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
      if (lease != null) {
        if (sees(lease, lock)) {
          if (random.nextInt(4) == 0) {
            updateGuarded(lock, lease, random.nextInt(SELDOM) == 0 ? thought() : 0);
          }
          stillSees(lease, lock);
        }
        release(lease.lease(), lock);
      }
    }
  }

  /** One that its process takes again and again, and that others disturb. */
  private String sticky() {
    boolean disturbs = random.nextInt(DISTURBS) == 0;
    int home = worker / HistoryEvent.PROCESS;
    return HistoryChecker.STICKY
        + (disturbs
            ? random.nextInt(lockCounts.sticky())
            : Math.floorMod(home, lockCounts.sticky()));
  }

  /**
   * A fair lock, held for a moment each time. Looks into the store until its queue shows the wait,
   * so that it is known who was first. A store without a queue shows none, and keeps no order
   * between processes.
   */
  void waitFairly(BooleanSupplier goOn) throws InterruptedException {
    String lock = HistoryChecker.FAIR + 0;
    while (goOn.getAsBoolean()) {
      attempt++;
      ContenderGrant lease = null;
      try {
        lease = acquireFairly(lock);
      } catch (UnsupportedByStoreException e) {
        // A store that refuses fair locks: somebody has to answer.
        log(EventKind.TIMED_OUT, lock, 0, 0);
        return;
      }
      if (lease != null) {
        if (sees(lease, lock)) {
          Thread.sleep(1 + random.nextInt(10));
          stillSees(lease, lock);
        }
        release(lease.lease(), lock);
      }
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
      // Who has the lock does not wait for a look that has got stuck.
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

  /** Whatever becomes of it. */
  private static void awaitOne(CompletableFuture<?> one, CompletableFuture<?> other)
      throws InterruptedException {
    try {
      CompletableFuture.anyOf(one, other).get();
    } catch (ExecutionException e) {
      // Seen by who asks for the result.
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
   * A lock that only it wants, held until it is lost: then its process could not renew, and its
   * waiters have lost their places in queues, which nothing else in the history would tell.
   */
  void keepHolding(BooleanSupplier goOn) throws InterruptedException {
    String lock = HistoryChecker.OWN + worker;
    while (goOn.getAsBoolean()) {
      attempt++;
      ContenderGrant lease = acquire(lock, false);
      if (lease != null) {
        if (sees(lease, lock)) {
          while (goOn.getAsBoolean() && lease.isValid()) {
            Thread.sleep(LOOK_MILLIS);
          }
          stillSees(lease, lock);
        }
        release(lease.lease(), lock);
      }
    }
  }

  /** A lock of Mortise, and a resource that does not look at tokens: must break under a pause. */
  void writeUnfenced(BooleanSupplier goOn) throws IOException, InterruptedException {
    String lock = HistoryChecker.OPEN + 0;
    while (goOn.getAsBoolean()) {
      attempt++;
      ContenderGrant lease = acquire(lock, false);
      if (lease != null) {
        if (sees(lease, lock)) {
          updateUnguarded(lock);
          stillSees(lease, lock);
        }
        release(lease.lease(), lock);
      }
    }
  }

  /** A lock with a time and without an owner: must break under a pause. */
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

  /** A lock for which its process waits and holds nothing else; held for a moment each time. */
  void waitInQueue(BooleanSupplier goOn) throws IOException, InterruptedException {
    String lock = HistoryChecker.QUEUE + 0;
    while (goOn.getAsBoolean()) {
      attempt++;
      ContenderGrant lease = acquire(lock, false);
      if (lease != null) {
        if (sees(lease, lock)) {
          updateGuarded(lock, lease, stay());
          stillSees(lease, lock);
        }
        release(lease.lease(), lock);
      }
    }
  }

  /** A queue that waits for the dead: must delay the others when a waiter is killed. */
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

  /** Whether it believes that it holds; if so, it did at the time that is written down. */
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
      // What became of it, the store knows.
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

  /** For long enough that another can be killed meanwhile, and short of a TTL. */
  private int stay() {
    int least = Math.toIntExact(ttl.toMillis() / 10);
    return least + random.nextInt(least + 1);
  }

  private int thought() {
    return THOUGHT_MILLIS + random.nextInt(THOUGHT_MILLIS);
  }
}
