package io.mortise.torture.run;

import io.mortise.DistributedLock;
import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.torture.history.Event;
import io.mortise.torture.history.Finding.Rule;
import io.mortise.torture.history.HistoryFile;
import io.mortise.torture.history.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;

/**
 * Cycles in numbers too great to be written down one by one: each is checked where it happens, and
 * they are counted.
 */
final class Bulk {
  /** Cycles that went to the store. */
  static final String REMOTE = "remote";

  /** Cycles in which a lock went from thread to thread of its process. */
  static final String LOCAL = "local";

  private static final int WAITERS = 32;
  private static final Duration WORK = Duration.ofMillis(20);
  private static final Duration REST = Duration.ofMillis(60);
  private static final Duration PATIENCE = Duration.ofSeconds(15);

  private final LockClient locks;
  private final HistoryFile history;
  private final int worker;

  /** The greatest token with which somebody has come in, of the lock that is passed on. */
  private final AtomicLong last = new AtomicLong();

  private final AtomicLong passed = new AtomicLong();

  Bulk(LockClient locks, HistoryFile history, int worker) {
    this.locks = locks;
    this.history = history;
    this.worker = worker;
  }

  private void count(String kind, long cycles) {
    history.add(new Event(System.nanoTime(), Kind.CYCLES, worker, kind, 0, cycles, 0));
  }

  private void broken(Rule rule, long token) {
    history.add(new Event(System.nanoTime(), Kind.BROKEN, worker, rule.name(), 0, token, 0));
  }

  private void log(Kind kind, String lock) {
    history.add(new Event(System.nanoTime(), kind, worker, lock, 0, 0, 0));
  }

  /** Takes some locks that nobody else wants again and again, all at a time. */
  void takeRemotely(BooleanSupplier goOn, int width) throws InterruptedException {
    long[] last = new long[width];
    List<CompletableFuture<Boolean>> cycles = new ArrayList<>();
    while (goOn.getAsBoolean()) {
      cycles.clear();
      for (int i = 0; i < width; i++) {
        int place = i;
        cycles.add(
            locks
                .lock("bulk-" + worker + "-" + i)
                .acquireAsync(PATIENCE)
                .thenCompose(lease -> look(lease, last, place)));
      }
      int done = 0;
      for (CompletableFuture<Boolean> cycle : cycles) {
        done += await(cycle) ? 1 : 0;
      }
      if (done > 0) {
        count(REMOTE, done);
      } else {
        Thread.sleep(20);
      }
    }
  }

  private CompletableFuture<Boolean> look(Lease lease, long[] last, int place) {
    long token = lease.token();
    if (token <= last[place]) {
      broken(token == last[place] ? Rule.UNIQUE_TOKENS : Rule.RISING_TOKENS, token);
    }
    last[place] = token;
    return lease.releaseAsync().thenApply(released -> true);
  }

  private static boolean await(CompletableFuture<Boolean> cycle) throws InterruptedException {
    try {
      return cycle.get(2 * PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      // The store is in trouble, or the lease was lost.
      return false;
    } catch (TimeoutException e) {
      throw new IllegalStateException("Neither granted nor refused.", e);
    }
  }

  /** Passes one lock on among many who wait for it in this process, in bursts. */
  void takeLocally(BooleanSupplier goOn) throws InterruptedException {
    DistributedLock lock = locks.lock("local-" + worker);
    Semaphore free = new Semaphore(WAITERS);
    while (goOn.getAsBoolean()) {
      long end = System.nanoTime() + WORK.toNanos();
      while (System.nanoTime() < end && free.tryAcquire(WORK.toNanos(), TimeUnit.NANOSECONDS)) {
        CompletableFuture<Void> unused =
            lock.acquireAsync(PATIENCE)
                .thenCompose(this::pass)
                .whenComplete(
                    (done, trouble) -> {
                      if (trouble != null && trouble.getCause() instanceof LeaseLostException) {
                        log(Kind.LOST, "local");
                      }
                      free.release();
                    });
      }
      count(LOCAL, passed.getAndSet(0));
      Thread.sleep(REST.toMillis());
    }
    free.acquire(WAITERS);
    count(LOCAL, passed.getAndSet(0));
  }

  private CompletableFuture<Void> pass(Lease lease) {
    check(lease);
    passed.incrementAndGet();
    return lease.releaseAsync();
  }

  /** Whoever is valid still when it looks at its lease was valid when it looked around before. */
  private void check(Lease lease) {
    long token = lease.token();
    long before = last.getAndAccumulate(token, Math::max);
    if (before >= token && lease.isValid()) {
      broken(before == token ? Rule.UNIQUE_TOKENS : Rule.RISING_TOKENS, token);
    } else if (last.get() != token && lease.isValid()) {
      broken(Rule.EXCLUSION, token);
    }
  }
}
