package io.mortise.internal.runtime;

import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Threads that keep nothing of who starts them: neither the JVM alive, nor inheritable
 * thread-locals (a user, a tenant), nor its priority, nor the class loader of an application that
 * is long stopped.
 */
public final class DaemonThreads {
  private DaemonThreads() {}

  /** A thread that is not started yet. Its context class loader is that of this library. */
  @SuppressWarnings("ThreadPriorityCheck") // the normal one, lest it has another
  public static Thread create(String name, Runnable task) {
    Thread thread = new Thread(null, task, name, 0, false);
    thread.setDaemon(true);
    thread.setPriority(Thread.NORM_PRIORITY);
    thread.setContextClassLoader(DaemonThreads.class.getClassLoader());
    return thread;
  }

  /** Threads of one name. */
  public static ThreadFactory named(String name) {
    return task -> create(name, task);
  }

  /** Threads of one name and a number each. */
  public static ThreadFactory numbered(String name) {
    AtomicInteger number = new AtomicInteger();
    return task -> create(name + "-" + number.incrementAndGet(), task);
  }
}
