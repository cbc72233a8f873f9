package io.mortise.bench;

import io.mortise.JavaLock;
import io.mortise.bench.subject.MortiseLocks;
import io.mortise.bench.subject.StoreUrls;
import io.mortise.bench.subject.Subject;
import io.mortise.bench.subject.Subject.LockHandle;
import io.mortise.bench.subject.Subject.LockedCall;
import io.mortise.bench.subject.Subjects;
import io.mortise.bench.subject.Subjects.SubjectTrait;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.List;
import java.util.stream.IntStream;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/** The workloads that need one process. */
final class ThreadWorkloads {
  private static final long WAIT_MILLIS = 10_000;
  private static final int REENTRIES = 20_000;
  private static final long CALLS = 1_000;
  private static final ThreadMXBean CPU = ManagementFactory.getThreadMXBean();

  /** Idle locks per held lock of the {@code held} workload. */
  private static final int IDLE_PER_HELD = 10;

  private final MeasurementRounds rounds;
  private final BenchResults benchResults;
  private final BenchPlan benchPlan;

  ThreadWorkloads(MeasurementRounds rounds, BenchResults benchResults, BenchPlan benchPlan) {
    this.rounds = rounds;
    this.benchResults = benchResults;
    this.benchPlan = benchPlan;
  }

  /** A thread re-enters a lock that it holds, and leaves it once. */
  void reentry(Workload workload, List<Subjects> subjects) throws InterruptedException {
    List<Subjects> views =
        subjects.stream()
            .filter(s -> s == Subjects.MORTISE_MEM || s == Subjects.MORTISE_REDIS)
            .toList();
    rounds.play(
        workload,
        views,
        benchPlan.rounds(),
        (which, counts) -> {
          JavaLock lock =
              ((MortiseLocks) rounds.here(which)).javaLock(rounds.lock(workload, which));
          lock.lock();
          try {
            long from = System.nanoTime();
            for (int i = 0; i < REENTRIES; i++) {
              again(lock);
            }
            long nanos = System.nanoTime() - from;
            if (counts) {
              benchResults.add(workload, which, "ns", nanos / (double) REENTRIES);
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

  /**
   * A thread repeatedly runs a method under a lock. In memory nothing waits, so the cost is its CPU
   * time, which other work on the machine does not change.
   */
  void call(Workload workload, List<Subjects> subjects) throws InterruptedException {
    rounds.play(
        workload,
        subjects.stream().filter(s -> s.is(SubjectTrait.CALLS)).toList(),
        benchPlan.rounds(),
        (which, counts) -> {
          LockedCall call = rounds.here(which).call(rounds.lock(workload, which));
          long most = millis(benchPlan.millis(), counts) * 1_000_000;
          long calls = 0;
          long sum = 0;
          long from = System.nanoTime();
          long cpuFrom = CPU.getCurrentThreadCpuTime();
          // A warm-up turn lasts until it has used that much CPU time.
          while ((counts ? System.nanoTime() - from : CPU.getCurrentThreadCpuTime() - cpuFrom)
              < most) {
            for (int i = 0; i < CALLS; i++) {
              sum += call.run(i);
            }
            calls += CALLS;
          }
          long cpu = CPU.getCurrentThreadCpuTime() - cpuFrom;
          long nanos = System.nanoTime() - from;
          if (sum != calls / CALLS * ((CALLS - 1) * CALLS / 2)) {
            throw new IllegalStateException("A call returned another value than its argument.");
          }
          if (counts) {
            benchResults.add(workload, which, "cpu ns", cpu / (double) calls);
            benchResults.add(workload, which, "ns", nanos / (double) calls);
          }
        });
  }

  /** Each thread has a lock of its own. */
  void apart(Workload workload, List<Subjects> subjects, int threads) throws InterruptedException {
    rounds.play(
        workload,
        subjects.stream().filter(s -> s.is(SubjectTrait.PAIRS)).toList(),
        benchPlan.rounds(),
        (which, counts) -> {
          String lock = rounds.lock(workload, which);
          LoadCounts loadCounts =
              race(which, threads, i -> lock + "/" + i, null, millis(benchPlan.millis(), counts));
          check(workload, which, loadCounts);
          if (counts) {
            benchResults.add(workload, which, "pairs/s", loadCounts.perSecond());
            benchResults.add(workload, which, "p50 µs", loadCounts.pairMicros(50));
            benchResults.add(workload, which, "p99 µs", loadCounts.pairMicros(99));
            benchResults.add(workload, which, "cpu µs", loadCounts.cpuMicrosPerPair());
          }
        });
  }

  /** A thread acquires a group of free locks, in turns with a single one. */
  void group(Workload workload, List<Subjects> subjects, int count) throws InterruptedException {
    rounds.play(
        workload,
        subjects.stream().filter(s -> s.is(SubjectTrait.GROUPS)).toList(),
        benchPlan.rounds(),
        (which, counts) -> {
          String lock = rounds.lock(workload, which) + "/";
          Subject subject = rounds.here(which);
          LockHandle one = subject.lockHandle(lock + "one");
          LockHandle all =
              subject.groupHandle(IntStream.range(0, count).mapToObj(i -> lock + i).toList());
          Histogram ones = LockLoad.histogram();
          Histogram groups = LockLoad.histogram();
          long until = System.nanoTime() + millis(benchPlan.millis(), counts) * 1_000_000;
          while (System.nanoTime() - until < 0) {
            ones.recordValue(takeNanos(one));
            groups.recordValue(takeNanos(all));
          }
          if (counts) {
            double single = ones.getValueAtPercentile(50) / 1e3;
            double group = groups.getValueAtPercentile(50) / 1e3;
            benchResults.add(workload, which, "p50 µs", group);
            benchResults.add(workload, which, "p99 µs", groups.getValueAtPercentile(99) / 1e3);
            benchResults.add(workload, which, "one p50 µs", single);
            benchResults.add(workload, which, "÷ one", group / single);
          }
        });
  }

  /** Acquires and releases the lock; returns the time of the acquire. */
  private static long takeNanos(LockHandle lockHandle) throws Exception {
    long from = System.nanoTime();
    if (!lockHandle.take(WAIT_MILLIS)) {
      throw new IllegalStateException("A free lock was not acquired.");
    }
    long nanos = System.nanoTime() - from;
    lockHandle.release();
    return nanos;
  }

  /**
   * A client that keeps many idle locks closes: measures their memory and the time of the close.
   */
  void idle(Workload workload, List<Subjects> subjects, StoreUrls stores)
      throws InterruptedException {
    int count = benchPlan.held() * IDLE_PER_HELD;
    rounds.play(
        workload,
        subjects.stream().filter(s -> s.is(SubjectTrait.IDLES)).toList(),
        Math.min(3, benchPlan.rounds()),
        (which, counts) -> {
          long heap;
          long closing;
          try (MortiseLocks locks = (MortiseLocks) which.open(stores)) {
            locks.passAll(rounds.lock(workload, which) + "/first/", 100);
            long before = Worker.usedHeap();
            locks.passAll(rounds.lock(workload, which) + "/", count);
            heap = Worker.usedHeap() - before;
            closing = System.nanoTime();
          }
          long nanos = System.nanoTime() - closing;
          if (counts) {
            benchResults.add(workload, which, "close ms", nanos / 1e6);
            benchResults.add(workload, which, "heap B/lock", heap / (double) count);
          }
        });
  }

  /** All threads contend for one lock. */
  void together(Workload workload, List<Subjects> subjects, int threads)
      throws InterruptedException {
    rounds.play(
        workload,
        subjects.stream().filter(s -> s.is(SubjectTrait.WAITS)).toList(),
        benchPlan.rounds(),
        (which, counts) -> {
          String lock = rounds.lock(workload, which);
          GuardedCell guardedCell = GuardedCell.here();
          LoadCounts loadCounts =
              race(
                  which,
                  threads,
                  i -> lock,
                  guardedCell,
                  millis(benchPlan.contendedMillis(), counts));
          check(workload, which, loadCounts);
          benchResults.broken(workload, which, guardedCell.broken(loadCounts.total()));
          if (counts) {
            benchResults.add(workload, which, "acq/s", loadCounts.perSecond());
            benchResults.add(
                workload, which, "switches/s", loadCounts.perSecond(guardedCell.threadSwitches()));
            benchResults.add(workload, which, "longest ms", loadCounts.longestTakeMillis());
          }
        });
  }

  /** Warm-up turns are longer: the JIT compiler needs time, and more of it on a busy machine. */
  private static long millis(long millis, boolean counts) {
    return counts ? millis : 3 * millis;
  }

  private LoadCounts race(
      Subjects which,
      int threads,
      java.util.function.IntFunction<String> lockOf,
      @Nullable GuardedCell guardedCell,
      long millis)
      throws Exception {
    LockLoad lockLoad =
        new LockLoad(rounds.here(which), threads, lockOf, guardedCell, 1, WAIT_MILLIS);
    return lockLoad.run(System.nanoTime() + 2_000_000, millis);
  }

  private void check(Workload workload, Subjects which, LoadCounts loadCounts) {
    String failure = loadCounts.firstFailure();
    if (failure != null) {
      benchResults.note(
          workload, which, loadCounts.failures() + " failures, the first: " + failure);
    }
  }
}
