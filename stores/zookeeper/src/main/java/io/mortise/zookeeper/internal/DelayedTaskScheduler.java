package io.mortise.zookeeper.internal;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Runs short steps later, on one thread. */
public final class DelayedTaskScheduler {
  private static final long RETRY_NANOS = 500_000_000;

  /** The common pool may be full of the application's tasks. */
  private static final Executor ENDS = WorkerPools.named("mortise-zookeeper-end");

  private final ScheduledThreadPoolExecutor executor;

  /** Its thread has that name. */
  DelayedTaskScheduler(String name) {
    executor = new ScheduledThreadPoolExecutor(1, WorkerPools.daemons(name));
    executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    executor.setRemoveOnCancelPolicy(true);
  }

  /** Does nothing once it is closed. */
  public void in(long nanos, Runnable step) {
    Future<?> unused = cancellable(nanos, step);
  }

  /** The same, for a step that may become needless. */
  public Future<?> cancellable(long nanos, Runnable step) {
    try {
      return executor.schedule(step, nanos, TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException e) {
      // The store is closed, and no caller waits for this any more.
      return CompletableFuture.completedFuture(null);
    }
  }

  /** Runs a step again after a pause, even if the store, and its timer, are closed before. */
  public static void retryDetached(Runnable step) {
    CompletableFuture.delayedExecutor(RETRY_NANOS, TimeUnit.NANOSECONDS, ENDS).execute(step);
  }

  /** Drops pending steps. */
  void close() {
    executor.shutdownNow();
  }
}
