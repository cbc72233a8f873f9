package io.mortise.bench;

import com.sun.management.OperatingSystemMXBean;
import io.mortise.bench.subject.Subject;
import io.mortise.bench.subject.Subject.Grip;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/** Some threads of this process that take and give back locks for a while. */
final class Race {
  private static final OperatingSystemMXBean SYSTEM =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
  private static final int FAILURES_ENOUGH = 20;
  private static final long READY_SECONDS = 60;

  private final Subject subject;
  private final @Nullable Cell cell;
  private final long process;
  private final long waitMillis;
  private final List<Runner> runners = new ArrayList<>();
  private final CountDownLatch ready;
  private final CountDownLatch start = new CountDownLatch(1);
  private final CountDownLatch finished;
  private volatile long from;
  private volatile long until;

  /**
   * Starts the threads, which wait for {@link #run}.
   *
   * @param lockOf the lock that each thread uses
   * @param cell what they do under the lock; null where they do not meet
   * @param process number of this process, greater than zero
   */
  Race(
      Subject subject,
      int threads,
      IntFunction<String> lockOf,
      @Nullable Cell cell,
      long process,
      long waitMillis)
      throws InterruptedException {
    this.subject = subject;
    this.cell = cell;
    this.process = process;
    this.waitMillis = waitMillis;
    this.ready = new CountDownLatch(threads);
    this.finished = new CountDownLatch(threads);
    for (int i = 0; i < threads; i++) {
      Runner runner = new Runner(process * 10_000 + i, lockOf.apply(i));
      runners.add(runner);
      runner.start();
    }
    if (!ready.await(READY_SECONDS, TimeUnit.SECONDS)) {
      throw new IllegalStateException(
          "Threads were not ready within " + READY_SECONDS + " s: cannot reach the store?");
    }
  }

  /** CPU time of this process. */
  static long cpuNanos() {
    return SYSTEM.getProcessCpuTime();
  }

  /** Lets the threads run from a time on, as the monotonic clock shows it. Blocks. */
  Tally run(long startNanos, long millis) throws InterruptedException {
    from = startNanos;
    until = startNanos + TimeUnit.MILLISECONDS.toNanos(millis);
    long cpu = cpuNanos();
    start.countDown();
    boolean ended = finished.await(millis + 2 * waitMillis + 5_000, TimeUnit.MILLISECONDS);
    Tally all = new Tally(millis, cpuNanos() - cpu);
    for (Runner runner : runners) {
      if (runner.isAlive()) {
        runner.interrupt();
        runner.join(1_000);
      }
      all.add(runner.tally);
    }
    if (!ended) {
      all.fail("threads were still waiting long after their time");
    }
    return all;
  }

  private final class Runner extends Thread {
    private final long id;
    private final String lock;
    private final Tally tally = new Tally(0, 0);

    Runner(long id, String lock) {
      super("bench-" + id);
      this.id = id;
      this.lock = lock;
      setDaemon(true);
    }

    @Override
    public void run() {
      try {
        Grip grip;
        try {
          grip = subject.grip(lock);
        } finally {
          ready.countDown();
        }
        start.await();
        for (long left = from - System.nanoTime(); left > 0; left = from - System.nanoTime()) {
          LockSupport.parkNanos(left);
        }
        repeat(grip);
      } catch (Exception e) {
        tally.fail(e.toString());
      } finally {
        finished.countDown();
        try {
          subject.threadEnds();
        } catch (Exception e) {
          tally.fail(e.toString());
        }
      }
    }

    private void repeat(Grip grip) throws InterruptedException {
      for (long asked = System.nanoTime();
          asked - until < 0 && tally.failures() < FAILURES_ENOUGH;
          asked = System.nanoTime()) {
        try {
          if (!grip.take(waitMillis)) {
            tally.fail("not acquired within " + waitMillis + " ms");
            continue;
          }
          long taken = System.nanoTime();
          if (cell != null) {
            cell.visit(process, id);
          }
          long giving = System.nanoTime();
          grip.give();
          tally.count(taken - asked, System.nanoTime() - giving, taken - until < 0);
        } catch (InterruptedException e) {
          throw e;
        } catch (Exception e) {
          tally.fail(e.toString());
        }
      }
    }
  }

  static Histogram histogram() {
    return new Histogram(TimeUnit.MINUTES.toNanos(5), 3);
  }
}
