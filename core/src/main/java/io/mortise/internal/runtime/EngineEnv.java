package io.mortise.internal.runtime;

import io.mortise.spi.ClientLabel;
import io.mortise.spi.time.Ticker;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.random.RandomGenerator;

/**
 * The environment of an engine, which a simulation can replace.
 *
 * @param timers runs polls and timeouts
 * @param renewals runs renewals and the session's deadline only: nothing else may delay them
 * @param callbacks runs listeners and completes futures
 * @param suspended how long the host was suspended so far, in nanoseconds, as far as can be known
 * @param random draws ids, beats and jitter
 */
public record EngineEnv(
    Ticker ticker,
    EngineScheduler timers,
    EngineScheduler renewals,
    Executor callbacks,
    Ticker suspended,
    RandomGenerator random,
    EngineRules rules,
    Duration ttl,
    ClientLabel client) {
  private static final long RETRY_NANOS = 100_000_000;

  /** Retries a callback until a thread is available for it. */
  public EngineEnv {
    Executor threads = callbacks;
    callbacks = task -> execute(task, threads, timers);
  }

  private static void execute(Runnable task, Executor threads, EngineScheduler timers) {
    try {
      threads.execute(task);
    } catch (OutOfMemoryError e) {
      // A lease that was never delivered would be renewed as long as the process lives.
      var unused = timers.schedule(RETRY_NANOS, () -> execute(task, threads, timers));
    }
  }

  /** The ticker's time in nanoseconds. */
  public long now() {
    return ticker.nanos();
  }

  public long ttlNanos() {
    return ttl.toNanos();
  }

  /**
   * A random time between {@code delay * 0.9} and {@code delay}: clients that started together
   * should not stay in step.
   */
  public long jittered(long delay) {
    return delay - (long) (delay * 0.1 * random.nextDouble());
  }
}
