package io.mortise.bench;

import io.mortise.bench.subject.StoreUrls;
import io.mortise.bench.subject.Subject;
import io.mortise.bench.subject.Subject.LockHandle;
import io.mortise.bench.subject.Subjects;
import io.mortise.bench.subject.Subjects.SubjectTrait;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * Measures hand-offs of one lock whose many waiters stand in the store's own queue. Two clients
 * have half of the threads each, so that neighbours in the queue are of different sessions. A third
 * client holds the lock until all waiters have enqueued. A served waiter enqueues again.
 */
final class QueueWorkload {
  private static final long WAIT_MILLIS = 120_000;
  private static final long STACK_BYTES = 128 * 1024;
  private static final long WARM_UP_MILLIS = 500;

  /** More would take minutes, as thousands of waiters enqueue and leave in each round. */
  private static final int MOST_ROUNDS = 3;

  private final MeasurementRounds rounds;
  private final BenchResults benchResults;
  private final BenchPlan benchPlan;
  private final StoreUrls stores;

  QueueWorkload(
      MeasurementRounds rounds, BenchResults benchResults, BenchPlan benchPlan, StoreUrls stores) {
    this.rounds = rounds;
    this.benchResults = benchResults;
    this.benchPlan = benchPlan;
    this.stores = stores;
  }

  void play(Workload workload, List<Subjects> subjects, int size) throws InterruptedException {
    rounds.play(
        workload,
        subjects.stream().filter(s -> s.is(SubjectTrait.CROWDS)).toList(),
        Math.min(benchPlan.rounds(), MOST_ROUNDS),
        (which, counts) -> {
          try (Subject holder = which.open(stores);
              Subject one = which.open(stores);
              Subject other = which.open(stores)) {
            double micros = handOff(rounds.lock(workload, which), size, holder, one, other);
            if (counts) {
              benchResults.add(workload, which, "hand-off µs", micros);
            }
          }
        });
  }

  private double handOff(String lock, int size, Subject holder, Subject one, Subject other)
      throws Exception {
    ZooKeeperServerStats server = new ZooKeeperServerStats(stores);
    WaiterThreads waiterThreads = new WaiterThreads();
    LockHandle first = holder.lockHandle(lock);
    if (!first.take(WAIT_MILLIS)) {
      throw new IllegalStateException("The lock was not free.");
    }
    long before = server.ephemerals();
    try {
      for (int i = 0; i < size; i++) {
        waiterThreads.start(i % 2 == 0 ? one : other, lock);
      }
      for (long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(WAIT_MILLIS);
          server.ephemerals() < before + size; ) {
        if (System.nanoTime() - until > 0) {
          throw new IllegalStateException(
              "Of " + size + " only " + (server.ephemerals() - before) + " stood in the queue.");
        }
        Thread.sleep(20);
      }
    } finally {
      first.release();
    }
    Thread.sleep(WARM_UP_MILLIS);
    long from = System.nanoTime();
    long count = waiterThreads.turns.sum();
    Thread.sleep(benchPlan.contendedMillis());
    long turns = waiterThreads.turns.sum() - count;
    double micros = (System.nanoTime() - from) / 1e3 / turns;
    waiterThreads.end();
    return micros;
  }

  /** Threads that repeatedly acquire and release a lock. */
  private static final class WaiterThreads {
    final LongAdder turns = new LongAdder();
    private final LongAdder failures = new LongAdder();
    private final List<Thread> threads = new ArrayList<>();
    private volatile boolean over;

    void start(Subject subject, String lock) {
      Thread thread =
          new Thread(null, () -> live(subject, lock), "bench-" + threads.size(), STACK_BYTES);
      thread.setDaemon(true);
      threads.add(thread);
      thread.start();
    }

    private void live(Subject subject, String lock) {
      try {
        LockHandle lockHandle = subject.lockHandle(lock);
        while (!over) {
          if (!lockHandle.take(WAIT_MILLIS)) {
            failures.increment();
            return;
          }
          turns.increment();
          lockHandle.release();
        }
      } catch (Exception e) {
        failures.increment();
      }
    }

    /** Lets each waiter have one more turn, the quickest way to drain the queue. */
    void end() throws InterruptedException {
      over = true;
      for (Thread thread : threads) {
        thread.join(WAIT_MILLIS);
      }
      if (failures.sum() > 0) {
        throw new IllegalStateException(failures.sum() + " threads did not get the lock.");
      }
    }
  }
}
