package io.mortise.internal.runtime;

import io.mortise.spi.ClientLabel;
import io.mortise.spi.time.Ticker;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.random.RandomGenerator;

/**
 * All that an engine takes from outside, so that a simulation can replace it.
 *
 * @param timers for polls and timeouts
 * @param renewals for renewals and the deadline of the session alone: nothing else may delay them
 * @param callbacks runs listeners and completes futures
 * @param suspended how long the host was suspended so far, in nanoseconds, as far as can be known
 * @param random for ids, beats and jitter
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

  /** A callback for which no thread is to be had is tried again until there is one. */
  public EngineEnv {
    Executor threads = callbacks;
    callbacks = task -> execute(task, threads, timers);
  }

  private static void execute(Runnable task, Executor threads, EngineScheduler timers) {
    try {
      threads.execute(task);
    } catch (OutOfMemoryError e) {
      // A lease that was never delivered would be renewed for as long as the process lives.
      var unused = timers.schedule(RETRY_NANOS, () -> execute(task, threads, timers));
    }
  }

  /** What the ticker shows, in nanoseconds. */
  public long now() {
    return ticker.nanos();
  }

  /** The TTL of a session. */
  public long ttlNanos() {
    return ttl.toNanos();
  }

  /**
   * Between {@code delay * 0.9} and {@code delay}: so that clients that started together do not
   * stay together.
   */
  public long jittered(long delay) {
    return delay - (long) (delay * 0.1 * random.nextDouble());
  }
}
