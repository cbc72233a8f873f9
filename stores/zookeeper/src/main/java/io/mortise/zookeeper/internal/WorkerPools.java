package io.mortise.zookeeper.internal;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Threads for what waits: connecting, closing, looking around. */
public final class WorkerPools {
  private WorkerPools() {}

  /** As many as are busy at a time; none once there has been nothing to do for a second. */
  public static ExecutorService named(String name) {
    return new ThreadPoolExecutor(
        0,
        Integer.MAX_VALUE,
        1,
        TimeUnit.SECONDS,
        new SynchronousQueue<>(),
        daemons(name),
        // What comes after the close concerns nobody any more.
        new ThreadPoolExecutor.DiscardPolicy());
  }

  /** Threads that keep nothing of who starts them, as the engine's. */
  static ThreadFactory daemons(String name) {
    return task -> {
      Thread thread = new Thread(null, task, name, 0, false);
      thread.setDaemon(true);
      thread.setContextClassLoader(WorkerPools.class.getClassLoader());
      return thread;
    };
  }
}
