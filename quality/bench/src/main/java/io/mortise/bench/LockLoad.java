package io.mortise.bench;

import com.sun.management.OperatingSystemMXBean;
import io.mortise.bench.subject.Subject;
import io.mortise.bench.subject.Subject.LockHandle;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/** Threads of this process that acquire and release locks for a given time. */
final class LockLoad {
  private static final OperatingSystemMXBean SYSTEM =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
  private static final int FAILURES_ENOUGH = 20;
  private static final long READY_SECONDS = 60;

  private final Subject subject;
  private final @Nullable GuardedCell guardedCell;
  private final long process;
  private final long waitMillis;
  private final List<LoadThread> loadThreads = new ArrayList<>();
  private final CountDownLatch ready;
  private final CountDownLatch start = new CountDownLatch(1);
  private final CountDownLatch finished;
  private volatile long from;
  private volatile long until;

  /**
   * Starts the threads, which wait for {@link #run}.
   *
   * @param lockOf the lock that each thread uses
   * @param guardedCell the critical section; null if the threads do not contend
   * @param process number of this process, greater than zero
   */
  LockLoad(
      Subject subject,
      int threads,
      IntFunction<String> lockOf,
      @Nullable GuardedCell guardedCell,
      long process,
      long waitMillis)
      throws InterruptedException {
    this.subject = subject;
    this.guardedCell = guardedCell;
    this.process = process;
    this.waitMillis = waitMillis;
    this.ready = new CountDownLatch(threads);
    this.finished = new CountDownLatch(threads);
    for (int i = 0; i < threads; i++) {
      LoadThread loadThread = new LoadThread(process * 10_000 + i, lockOf.apply(i));
      loadThreads.add(loadThread);
      loadThread.start();
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

  /** Lets the threads run from a time of the monotonic clock on. Blocks. */
  LoadCounts run(long startNanos, long millis) throws InterruptedException {
    from = startNanos;
    until = startNanos + TimeUnit.MILLISECONDS.toNanos(millis);
    long cpu = cpuNanos();
    start.countDown();
    boolean ended = finished.await(millis + 2 * waitMillis + 5_000, TimeUnit.MILLISECONDS);
    LoadCounts all = new LoadCounts(millis, cpuNanos() - cpu);
    for (LoadThread loadThread : loadThreads) {
      if (loadThread.isAlive()) {
        loadThread.interrupt();
        loadThread.join(1_000);
      }
      all.add(loadThread.loadCounts);
    }
    if (!ended) {
      all.fail("threads were still waiting long after their time");
    }
    return all;
  }

  private final class LoadThread extends Thread {
    private final long id;
    private final String lock;
    private final LoadCounts loadCounts = new LoadCounts(0, 0);

    LoadThread(long id, String lock) {
      super("bench-" + id);
      this.id = id;
      this.lock = lock;
      setDaemon(true);
    }

    @Override
    public void run() {
      try {
        LockHandle lockHandle;
        try {
          lockHandle = subject.lockHandle(lock);
        } finally {
          ready.countDown();
        }
        start.await();
        for (long left = from - System.nanoTime(); left > 0; left = from - System.nanoTime()) {
          LockSupport.parkNanos(left);
        }
        repeat(lockHandle);
      } catch (Exception e) {
        loadCounts.fail(e.toString());
      } finally {
        finished.countDown();
        try {
          subject.onThreadExit();
        } catch (Exception e) {
          loadCounts.fail(e.toString());
        }
      }
    }

    private void repeat(LockHandle lockHandle) throws InterruptedException {
      for (long asked = System.nanoTime();
          asked - until < 0 && loadCounts.failures() < FAILURES_ENOUGH;
          asked = System.nanoTime()) {
        try {
          if (!lockHandle.take(waitMillis)) {
            loadCounts.fail("not acquired within " + waitMillis + " ms");
            continue;
          }
          long taken = System.nanoTime();
          if (guardedCell != null) {
            guardedCell.visit(process, id);
          }
          long giving = System.nanoTime();
          lockHandle.release();
          loadCounts.count(taken - asked, System.nanoTime() - giving, taken - until < 0);
        } catch (InterruptedException e) {
          throw e;
        } catch (Exception e) {
          loadCounts.fail(e.toString());
        }
      }
    }
  }

  static Histogram histogram() {
    return new Histogram(TimeUnit.MINUTES.toNanos(5), 3);
  }
}
