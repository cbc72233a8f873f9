package io.mortise.zookeeper.internal;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
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
        task -> {
          Thread thread = new Thread(task, name);
          thread.setDaemon(true);
          return thread;
        },
        // What comes after the close concerns nobody any more.
        new ThreadPoolExecutor.DiscardPolicy());
  }
}
