package io.mortise.bench;

import io.mortise.JavaLock;
import io.mortise.bench.subject.Mortise;
import io.mortise.bench.subject.Subjects;
import io.mortise.bench.subject.Subjects.Trait;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The workloads that need one process. */
final class ThreadWorkloads {
  private static final long WAIT_MILLIS = 10_000;
  private static final int REENTRIES = 20_000;

  private final Rounds rounds;
  private final Figures figures;
  private final Plan plan;

  ThreadWorkloads(Rounds rounds, Figures figures, Plan plan) {
    this.rounds = rounds;
    this.figures = figures;
    this.plan = plan;
  }

  /** A thread locks once more what it has locked, and unlocks it once. */
  void reentry(Workload workload, List<Subjects> subjects) throws InterruptedException {
    List<Subjects> views =
        subjects.stream()
            .filter(s -> s == Subjects.MORTISE_MEM || s == Subjects.MORTISE_REDIS)
            .toList();
    rounds.play(
        workload,
        views,
        plan.rounds(),
        (which, counts) -> {
          JavaLock lock = ((Mortise) rounds.here(which)).javaLock(rounds.lock(workload, which));
          lock.lock();
          try {
            long from = System.nanoTime();
            for (int i = 0; i < REENTRIES; i++) {
              again(lock);
            }
            long nanos = System.nanoTime() - from;
            if (counts) {
              figures.add(workload, which, "ns", nanos / (double) REENTRIES);
            }
          } finally {
            lock.unlock();
          }
        });
  }

  @SuppressWarnings("LockNotBeforeTry") // Nothing is done in between.
  private static void again(JavaLock lock) {
    lock.lock();
    lock.unlock();
  }

  /** Each thread has a lock of its own. */
  void apart(Workload workload, List<Subjects> subjects, int threads) throws InterruptedException {
    rounds.play(
        workload,
        subjects.stream().filter(s -> s.is(Trait.PAIRS)).toList(),
        plan.rounds(),
        (which, counts) -> {
          String lock = rounds.lock(workload, which);
          Tally tally =
              race(which, threads, i -> lock + "/" + i, null, millis(plan.millis(), counts));
          check(workload, which, tally);
          if (counts) {
            figures.add(workload, which, "pairs/s", tally.perSecond());
            figures.add(workload, which, "p50 µs", tally.pairMicros(50));
            figures.add(workload, which, "p99 µs", tally.pairMicros(99));
            figures.add(workload, which, "cpu µs", tally.cpuMicrosPerPair());
          }
        });
  }

  /** All threads want one lock. */
  void together(Workload workload, List<Subjects> subjects, int threads)
      throws InterruptedException {
    rounds.play(
        workload,
        subjects.stream().filter(s -> s.is(Trait.WAITS)).toList(),
        plan.rounds(),
        (which, counts) -> {
          String lock = rounds.lock(workload, which);
          Cell cell = Cell.here();
          Tally tally =
              race(which, threads, i -> lock, cell, millis(plan.contendedMillis(), counts));
          check(workload, which, tally);
          figures.broken(workload, which, cell.broken(tally.total()));
          if (counts) {
            figures.add(workload, which, "acq/s", tally.perSecond());
            figures.add(workload, which, "switches/s", tally.perSecond(cell.threadSwitches()));
            figures.add(workload, which, "longest ms", tally.longestTakeMillis());
          }
        });
  }

  /**
   * Longer where it does not count: a compiler needs its time, and more of it on a busy machine.
   */
  private static long millis(long millis, boolean counts) {
    return counts ? millis : 3 * millis;
  }

  private Tally race(
      Subjects which,
      int threads,
      java.util.function.IntFunction<String> lockOf,
      @Nullable Cell cell,
      long millis)
      throws Exception {
    Race race = new Race(rounds.here(which), threads, lockOf, cell, 1, WAIT_MILLIS);
    return race.run(System.nanoTime() + 2_000_000, millis);
  }

  private void check(Workload workload, Subjects which, Tally tally) {
    String failure = tally.firstFailure();
    if (failure != null) {
      figures.note(workload, which, tally.failures() + " failures, the first: " + failure);
    }
  }
}
