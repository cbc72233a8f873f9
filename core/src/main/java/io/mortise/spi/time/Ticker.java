package io.mortise.spi.time;

/**
 * Monotonic time of this process, for deadlines. Never the time of day: that is {@link WallClock}.
 */
@FunctionalInterface
public interface Ticker {
  /** The JVM's own ticker. */
  Ticker SYSTEM = System::nanoTime;

  /** Nanoseconds since some fixed moment; only differences have a meaning. */
  long nanos();
}
