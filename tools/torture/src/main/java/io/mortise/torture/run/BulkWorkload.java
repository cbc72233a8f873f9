package io.mortise.torture.run;

import io.mortise.DistributedLock;
import io.mortise.Lease;
import io.mortise.LeaseInDoubtException;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.LockException;
import io.mortise.admin.StoreInfo.Feature;
import io.mortise.torture.history.EventKind;
import io.mortise.torture.history.HistoryEvent;
import io.mortise.torture.history.HistoryViolation.SafetyRule;
import io.mortise.torture.history.HistoryWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Cycles too numerous to be recorded: each is checked on the spot, and counted. */
final class BulkWorkload {
  /** Cycles that went to the store. */
  static final String REMOTE = "remote";

  /** Cycles in which a lock went from thread to thread of its process, without the store. */
  static final String LOCAL = "local";

  /** Threads that pass one lock on: one working, one waking up, one waiting. */
  static final int PASSERS = 3;

  private static final long WORK_NANOS = 10_000_000;
  private static final long PERIOD_NANOS = 80_000_000;
  private static final Duration PATIENCE = Duration.ofSeconds(15);
  private static final int WORTH_A_LINE = 1_000;

  private final LockClient locks;
  private final HistoryWriter history;
  private final int process;
  private final boolean hasTokens;

  /** The greatest token so far of the lock that is passed on. */
  private final AtomicLong last = new AtomicLong();

  /** Creates the workload of all threads of a process. */
  BulkWorkload(LockClient locks, HistoryWriter history, int process) {
    this.locks = locks;
    this.history = history;
    this.process = process;
    this.hasTokens = locks.admin().store().has(Feature.FENCING_TOKENS);
  }

  private void count(int worker, String kind, long cycles) {
    if (cycles > 0) {
      history.add(
          new HistoryEvent(System.nanoTime(), EventKind.CYCLES, worker, kind, 0, cycles, 0));
    }
  }

  private void broken(int worker, SafetyRule safetyRule, long token) {
    history.add(
        new HistoryEvent(
            System.nanoTime(), EventKind.BROKEN, worker, safetyRule.name(), 0, token, 0));
  }

  /** Repeatedly acquires some uncontended locks, all concurrently. */
  void takeRemotely(int worker, BooleanSupplier goOn, int width) throws InterruptedException {
    long[] tokens = new long[width];
    List<CompletableFuture<Boolean>> cycles = new ArrayList<>();
    long done = 0;
    while (goOn.getAsBoolean()) {
      cycles.clear();
      for (int i = 0; i < width; i++) {
        int place = i;
        cycles.add(
            locks
                .lock("bulk-" + process + "-" + i)
                .acquireAsync(PATIENCE)
                .thenCompose(lease -> look(worker, lease, tokens, place)));
      }
      long before = done;
      for (CompletableFuture<Boolean> cycle : cycles) {
        done += await(cycle) ? 1 : 0;
      }
      if (done == before) {
        Thread.sleep(20);
      } else if (done >= WORTH_A_LINE) {
        count(worker, REMOTE, done);
        done = 0;
      }
    }
    count(worker, REMOTE, done);
  }

  private CompletableFuture<Boolean> look(int worker, Lease lease, long[] tokens, int place) {
    long token = hasTokens ? lease.token() : tokens[place] + 1;
    if (token <= tokens[place]) {
      broken(
          worker,
          token == tokens[place] ? SafetyRule.UNIQUE_TOKENS : SafetyRule.RISING_TOKENS,
          token);
    }
    tokens[place] = token;
    return lease.releaseAsync().thenApply(released -> true);
  }

  private static boolean await(CompletableFuture<Boolean> cycle) throws InterruptedException {
    try {
      return cycle.get(2 * PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      // The store is unavailable, or the lease was lost.
      return false;
    } catch (TimeoutException e) {
      throw new IllegalStateException("Neither granted nor refused.", e);
    }
  }

  /**
   * Repeatedly acquires the one lock that all {@link #PASSERS} threads of this process want, in
   * bursts that all begin together: a lone thread would get it from the store. The time of a burst
   * counts from the first hold, however slow its grant. Does nothing without tokens, as grants of
   * the store could not be recognized.
   */
  void takeLocally(int worker, BooleanSupplier goOn) throws InterruptedException {
    if (!hasTokens) {
      return;
    }
    DistributedLock lock = locks.lock("local-" + process);
    while (goOn.getAsBoolean()) {
      long end = 0;
      long local = 0;
      long remote = 0;
      while (end == 0 ? goOn.getAsBoolean() : System.nanoTime() - end < 0) {
        try {
          if (cycle(worker, lock)) {
            local++;
          } else {
            remote++;
          }
          end = end == 0 ? System.nanoTime() + WORK_NANOS : end;
        } catch (LeaseLostException | LeaseInDoubtException e) {
          history.add(
              new HistoryEvent(System.nanoTime(), EventKind.LOST, worker, "local", 0, 0, 0));
        } catch (LockException e) {
          Thread.sleep(20);
        }
      }
      count(worker, LOCAL, local);
      count(worker, REMOTE, remote);
      LockSupport.parkNanos(PERIOD_NANOS - Math.floorMod(System.nanoTime(), PERIOD_NANOS));
    }
  }

  private boolean cycle(int worker, DistributedLock lock) throws InterruptedException {
    try (Lease lease = lock.acquireWithin(PATIENCE)) {
      return follows(worker, lease);
    }
  }

  /**
   * Checks a hold: a lease that is valid now was valid at the check before. Returns whether it was
   * passed on by the previous holder: it then has the next token, whereas a new grant of the store
   * discards the rest of a block of tokens.
   */
  private boolean follows(int worker, Lease lease) {
    long token = lease.token();
    long before = last.getAndAccumulate(token, Math::max);
    if (before >= token && lease.isValid()) {
      broken(worker, before == token ? SafetyRule.UNIQUE_TOKENS : SafetyRule.RISING_TOKENS, token);
    } else if (last.get() != token && lease.isValid()) {
      broken(worker, SafetyRule.EXCLUSION, token);
    }
    return token == before + 1;
  }
}
