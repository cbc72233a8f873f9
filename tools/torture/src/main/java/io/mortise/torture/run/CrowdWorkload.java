package io.mortise.torture.run;

import io.mortise.DistributedLock;
import io.mortise.Lease;
import io.mortise.LeaseInDoubtException;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.LockOptions;
import io.mortise.LockTimeoutException;
import io.mortise.admin.StoreInfo.Feature;
import io.mortise.torture.history.EventKind;
import io.mortise.torture.history.HistoryChecker;
import io.mortise.torture.history.HistoryEvent;
import io.mortise.torture.history.HistoryWriter;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A crowd: a hundred fair waiters of each process for one lock. Each has its own place in the
 * store's queue, and releases the lock at once. However many they are, a free lock must go to one
 * of them soon.
 */
final class CrowdWorkload {
  /** Waiters of one process. */
  static final int WAITERS = 100;

  /** Longer than most stores need to serve all of them. */
  private static final Duration WAIT = Duration.ofSeconds(10);

  private static final long HOLD_MILLIS = 5;
  private static final long PAUSE_MILLIS = 50;

  private final DistributedLock lock;
  private final HistoryWriter history;
  private final boolean hasTokens;
  private final boolean hasQueue;
  private final BooleanSupplier goOn;

  CrowdWorkload(LockClient locks, HistoryWriter history, BooleanSupplier goOn) {
    this.lock = locks.lock(HistoryChecker.CROWD + 0).with(LockOptions.DEFAULTS.withFair(true));
    this.history = history;
    this.hasTokens = locks.admin().store().has(Feature.FENCING_TOKENS);
    this.hasQueue = locks.admin().store().has(Feature.QUEUE);
    this.goOn = goOn;
  }

  /**
   * Runs all waiters of a process to the end. Blocks. A store without a queue has no crowd.
   *
   * @param firstWorker the number of the first of {@link #WAITERS} workers
   */
  void run(int firstWorker) {
    if (!hasQueue) {
      return;
    }
    CompletableFuture<?>[] waiters = new CompletableFuture<?>[WAITERS];
    for (int i = 0; i < WAITERS; i++) {
      waiters[i] = cycle(firstWorker + i, 1);
    }
    CompletableFuture.allOf(waiters).join();
  }

  private CompletableFuture<Void> cycle(int worker, long attempt) {
    if (!goOn.getAsBoolean()) {
      return CompletableFuture.completedFuture(null);
    }
    log(EventKind.ASKS, worker, attempt, 0, 0);
    CompletableFuture<Boolean> cycle =
        lock.acquireAsync(WAIT)
            .thenCompose(lease -> granted(worker, attempt, lease))
            .exceptionally(failure -> refused(worker, attempt, failure));
    return cycle.thenComposeAsync(served -> cycle(worker, attempt + 1), later(PAUSE_MILLIS));
  }

  private boolean refused(int worker, long attempt, Throwable failure) {
    boolean late = cause(failure) instanceof LockTimeoutException;
    log(late ? EventKind.TIMED_OUT : EventKind.OUTAGE, worker, attempt, 0, 0);
    return false;
  }

  private CompletableFuture<Boolean> granted(int worker, long attempt, Lease lease) {
    long token;
    try {
      token = hasTokens ? lease.token() : 0;
    } catch (LeaseLostException | LeaseInDoubtException e) {
      log(EventKind.STALE, worker, attempt, 0, 0);
      return release(worker, attempt, lease);
    }
    boolean valid = lease.isValid();
    log(valid ? EventKind.HOLDS : EventKind.STALE, worker, attempt, token, 0);
    return CompletableFuture.runAsync(
            () -> stillSees(worker, attempt, lease, token, valid), later(HOLD_MILLIS))
        .thenCompose(looked -> release(worker, attempt, lease));
  }

  private void stillSees(int worker, long attempt, Lease lease, long token, boolean held) {
    long before = System.nanoTime();
    if (held) {
      EventKind kind = lease.isValid() ? EventKind.SURE : EventKind.LOST;
      history.add(new HistoryEvent(before, kind, worker, lock.name(), attempt, token, 0));
    }
  }

  private CompletableFuture<Boolean> release(int worker, long attempt, Lease lease) {
    return lease
        .releaseAsync()
        .handle(
            (released, failure) -> {
              if (failure == null) {
                log(EventKind.GAVE, worker, attempt, 0, 0);
              } else {
                int unknown = cause(failure) instanceof LeaseLostException ? 0 : 1;
                log(EventKind.GAVE_LOST, worker, attempt, 0, unknown);
              }
              return true;
            });
  }

  private static Executor later(long millis) {
    return CompletableFuture.delayedExecutor(millis, TimeUnit.MILLISECONDS);
  }

  private static @Nullable Throwable cause(Throwable failure) {
    return failure instanceof CompletionException ? failure.getCause() : failure;
  }

  private void log(EventKind kind, int worker, long attempt, long token, int more) {
    history.add(
        new HistoryEvent(System.nanoTime(), kind, worker, lock.name(), attempt, token, more));
  }
}
