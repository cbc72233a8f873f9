package io.mortise.internal.engine;

import io.mortise.spi.ClientLabel;
import io.mortise.spi.Ticker;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
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
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The real environment of a client: the JVM's clock, two timer threads, threads for callbacks as
 * they are needed.
 */
public final class SystemEnv implements AutoCloseable {
  private static final Path UPTIME = Path.of("/proc/uptime");

  /** Less than what counts as a sleep, more than a reading takes when nothing is in its way. */
  private static final long LONGEST_READING = 10_000_000;

  private final ScheduledThreadPoolExecutor timers = timer("mortise-timer");
  private final ScheduledThreadPoolExecutor renewals = timer("mortise-renewal");
  private final ExecutorService callbacks =
      new ThreadPoolExecutor(
          0,
          Integer.MAX_VALUE,
          10,
          TimeUnit.SECONDS,
          new SynchronousQueue<>(),
          named("mortise-callback"));

  /** The engine's view of it. */
  public EngineEnv env(Duration ttl, ClientLabel client) {
    return new EngineEnv(
        Ticker.SYSTEM,
        scheduler(timers),
        scheduler(renewals),
        task -> {
          if (!callbacks.isShutdown()) {
            callbacks.execute(task);
          }
        },
        suspended(),
        new SecureRandom(),
        EngineRules.ALL,
        ttl,
        client);
  }

  private static ScheduledThreadPoolExecutor timer(String name) {
    ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1, named(name));
    executor.setRemoveOnCancelPolicy(true);
    executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    return executor;
  }

  private static ThreadFactory named(String name) {
    AtomicInteger number = new AtomicInteger();
    return task -> {
      Thread thread = new Thread(task, name + "-" + number.incrementAndGet());
      thread.setDaemon(true);
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

  /**
   * Linux counts suspended time in /proc/uptime but not in the monotonic clock; elsewhere nothing
   * is known. The two are read one after the other: a reading during which this thread itself was
   * held up says nothing about the host, so the quickest of a few counts, and if none was quick,
   * the one before stands.
   */
  private static Ticker suspended() {
    if (!Files.isReadable(UPTIME)) {
      return () -> 0;
    }
    AtomicReference<@Nullable Long> last = new AtomicReference<>();
    return () -> {
      long quickest = Long.MAX_VALUE;
      long suspended = 0;
      for (int tries = 0; tries < 5 && quickest > LONGEST_READING; tries++) {
        long before = System.nanoTime();
        long uptime = uptimeNanos();
        long took = System.nanoTime() - before;
        if (took < quickest) {
          quickest = took;
          suspended = uptime - before;
        }
      }
      Long known = last.get();
      if (known != null && quickest > LONGEST_READING) {
        return known;
      }
      last.set(suspended);
      return suspended;
    };
  }

  private static long uptimeNanos() {
    try {
      String uptime = Files.readString(UPTIME);
      return (long) (Double.parseDouble(uptime.substring(0, uptime.indexOf(' '))) * 1e9);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    timers.shutdownNow();
    renewals.shutdownNow();
    callbacks.shutdown();
  }
}
