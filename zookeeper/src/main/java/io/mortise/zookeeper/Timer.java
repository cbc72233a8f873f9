package io.mortise.zookeeper;

import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Runs short steps later, on one thread. */
final class Timer {
  private final ScheduledThreadPoolExecutor executor;

  Timer(String name) {
    executor =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread thread = new Thread(task, name);
              thread.setDaemon(true);
              return thread;
            });
    executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
  }

  /** Does nothing once it is closed. */
  void in(long nanos, Runnable step) {
    try {
      Future<?> unused = executor.schedule(step, nanos, TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException e) {
      // The store is closed, and nobody waits for this any more.
    }
  }

  void close() {
    executor.shutdownNow();
  }
}
