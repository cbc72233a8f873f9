package io.mortise.zookeeper.internal;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Threads for blocking work: connecting, closing, inspection. */
public final class WorkerPools {
  private WorkerPools() {}

  /** As many threads as are busy at a time; none after an idle second. */
  public static ExecutorService named(String name) {
    return new ThreadPoolExecutor(
        0,
        Integer.MAX_VALUE,
        1,
        TimeUnit.SECONDS,
        new SynchronousQueue<>(),
        daemons(name),
        // Tasks after the close have no receiver any more.
        new ThreadPoolExecutor.DiscardPolicy());
  }

  /** Threads that inherit nothing from their starter, like the engine's. */
  static ThreadFactory daemons(String name) {
    return task -> {
      Thread thread = new Thread(null, task, name, 0, false);
      thread.setDaemon(true);
      thread.setContextClassLoader(WorkerPools.class.getClassLoader());
      return thread;
    };
  }
}
