package io.mortise.bench;

import io.mortise.bench.subject.Stores;
import io.mortise.bench.subject.Subject;
import io.mortise.bench.subject.Subject.Grip;
import io.mortise.bench.subject.Subjects;
import io.mortise.bench.subject.Subjects.Trait;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * Many want one lock, each of them standing in the store's own queue: how long it takes from one to
 * the next. Two clients have half of the threads each, so that neighbours in the queue are of
 * different sessions; a third one holds until all have come. Whoever had its turn queues again.
 */
final class CrowdWorkload {
  private static final long WAIT_MILLIS = 120_000;
  private static final long STACK_BYTES = 128 * 1024;
  private static final long WARM_UP_MILLIS = 500;

  /** More would take minutes, as thousands have to come and go in each. */
  private static final int MOST_ROUNDS = 3;

  private final Rounds rounds;
  private final Figures figures;
  private final Plan plan;
  private final Stores stores;

  CrowdWorkload(Rounds rounds, Figures figures, Plan plan, Stores stores) {
    this.rounds = rounds;
    this.figures = figures;
    this.plan = plan;
    this.stores = stores;
  }

  void play(Workload workload, List<Subjects> subjects, int size) throws InterruptedException {
    rounds.play(
        workload,
        subjects.stream().filter(s -> s.is(Trait.CROWDS)).toList(),
        Math.min(plan.rounds(), MOST_ROUNDS),
        (which, counts) -> {
          try (Subject holder = which.open(stores);
              Subject one = which.open(stores);
              Subject other = which.open(stores)) {
            double micros = handOff(rounds.lock(workload, which), size, holder, one, other);
            if (counts) {
              figures.add(workload, which, "hand-off µs", micros);
            }
          }
        });
  }

  private double handOff(String lock, int size, Subject holder, Subject one, Subject other)
      throws Exception {
    ZooKeeperFigures server = new ZooKeeperFigures(stores);
    Crowd crowd = new Crowd();
    Grip first = holder.grip(lock);
    if (!first.take(WAIT_MILLIS)) {
      throw new IllegalStateException("The lock was not free.");
    }
    long before = server.ephemerals();
    try {
      for (int i = 0; i < size; i++) {
        crowd.start(i % 2 == 0 ? one : other, lock);
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
      first.give();
    }
    Thread.sleep(WARM_UP_MILLIS);
    long from = System.nanoTime();
    long count = crowd.turns.sum();
    Thread.sleep(plan.contendedMillis());
    long turns = crowd.turns.sum() - count;
    double micros = (System.nanoTime() - from) / 1e3 / turns;
    crowd.end();
    return micros;
  }

  /** Threads that take a lock and give it back, again and again. */
  private static final class Crowd {
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
        Grip grip = subject.grip(lock);
        while (!over) {
          if (!grip.take(WAIT_MILLIS)) {
            failures.increment();
            return;
          }
          turns.increment();
          grip.give();
        }
      } catch (Exception e) {
        failures.increment();
      }
    }

    /** Everybody has one more turn, which is the quickest way to leave. */
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
