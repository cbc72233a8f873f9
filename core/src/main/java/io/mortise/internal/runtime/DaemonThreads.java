package io.mortise.internal.runtime;

import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Threads that inherit nothing from their starter. They do not keep the JVM alive, and have no
 * inheritable thread-locals (a user, a tenant), the normal priority, and not the class loader of an
 * application that may have stopped.
 */
public final class DaemonThreads {
  private DaemonThreads() {}

  /** A thread that is not started yet. Its context class loader is that of this library. */
  // the normal priority, because the starter may have another
  @SuppressWarnings("ThreadPriorityCheck")
  public static Thread create(String name, Runnable task) {
    Thread thread = new Thread(null, task, name, 0, false);
    thread.setDaemon(true);
    thread.setPriority(Thread.NORM_PRIORITY);
    thread.setContextClassLoader(DaemonThreads.class.getClassLoader());
    return thread;
  }

  /** A factory of threads with one name. */
  public static ThreadFactory named(String name) {
    return task -> create(name, task);
  }

  /** A factory of threads with one name and a number each. */
  static ThreadFactory numbered(String name) {
    AtomicInteger number = new AtomicInteger();
    return task -> create(name + "-" + number.incrementAndGet(), task);
  }
}
