package io.mortise.internal.runtime;

import io.mortise.spi.ClientLabel;
import io.mortise.spi.time.Ticker;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The real environment of a client: the JVM's clock, two timer threads, callback threads. */
public final class SystemEnv implements AutoCloseable {
  private static final Path UPTIME = Path.of("/proc/uptime");

  private final ScheduledThreadPoolExecutor timers = timer("mortise-timer");
  private final ScheduledThreadPoolExecutor renewals = timer("mortise-renewal");
  private final ThreadFactory callbackThreads = applicationThreads("mortise-callback");
  private final ExecutorService callbacks =
      new ThreadPoolExecutor(
          0,
          Integer.MAX_VALUE,
          10,
          TimeUnit.SECONDS,
          new SynchronousQueue<>(),
          callbackThreads,
          // A callback during the client's close may complete a future that a thread awaits.
          (task, closed) -> callbackThreads.newThread(task).start());

  /** Without a first thread, no retry would ever run. */
  public SystemEnv() {
    timers.prestartCoreThread();
  }

  /** This environment as the engine sees it. */
  public EngineEnv env(Duration ttl, ClientLabel client) {
    return new EngineEnv(
        Ticker.SYSTEM,
        scheduler(timers),
        scheduler(renewals),
        callbacks,
        suspended(),
        new SecureRandom(),
        EngineRules.ALL,
        ttl,
        client);
  }

  /** The host's suspension so far, as far as it can be known. */
  static Ticker suspended() {
    return SuspendedTime.from(UPTIME, Ticker.SYSTEM, BootTime::nanos);
  }

  /**
   * The same time, up to a millisecond old, for callers that read it at each request. The host may
   * be suspended right after any reading, so callers cannot rely on a fresh one either.
   *
   * @param monotonic the clock for the millisecond
   */
  public static Ticker suspendedLately(Ticker monotonic) {
    return SuspendedTime.lately(suspended(), monotonic);
  }

  private static ScheduledThreadPoolExecutor timer(String name) {
    ScheduledThreadPoolExecutor executor =
        new ScheduledThreadPoolExecutor(
            1, DaemonThreads.numbered(name), new ThreadPoolExecutor.DiscardPolicy());
    executor.setRemoveOnCancelPolicy(true);
    executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    return executor;
  }

  /** Threads for code of the application, with the calling thread's context class loader. */
  private static ThreadFactory applicationThreads(String name) {
    ThreadFactory threads = DaemonThreads.numbered(name);
    ClassLoader loader = Thread.currentThread().getContextClassLoader();
    return task -> {
      Thread thread = threads.newThread(task);
      thread.setContextClassLoader(loader);
      return thread;
    };
  }

  private static EngineScheduler scheduler(ScheduledThreadPoolExecutor executor) {
    return (delay, task) -> {
      if (executor.isShutdown()) {
        return () -> {};
      }
      ScheduledFuture<?> future = executor.schedule(task, Math.max(0, delay), TimeUnit.NANOSECONDS);
      return () -> future.cancel(false);
    };
  }

  @Override
  public void close() {
    timers.shutdownNow();
    renewals.shutdownNow();
    callbacks.shutdown();
  }
}
