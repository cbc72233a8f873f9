package io.mortise.spi.time;

/**
 * Monotonic time of this process, for deadlines. Never the time of day: that is {@link WallClock}.
 */
@FunctionalInterface
public interface Ticker {
  /** The JVM's own. */
  Ticker SYSTEM = System::nanoTime;

  /** Nanoseconds since some fixed moment; differences count, values do not. */
  long nanos();
}
