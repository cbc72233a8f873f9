package io.mortise.internal.runtime;

import io.mortise.spi.time.Ticker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * For how long the host has been suspended. Linux counts that time in /proc/uptime but not in the
 * monotonic clock.
 */
final class SuspendedTime implements Ticker {
  /** /proc/uptime has hundredths of a second. */
  private static final long EXACT_NANOS = 10_000_000;

  private static final long LATELY_NANOS = 1_000_000;

  private static final int TRIES = 5;

  private final Path uptime;
  private final Ticker monotonic;
  private volatile long last;

  private SuspendedTime(Path uptime, Ticker monotonic) throws IOException {
    this.uptime = uptime;
    this.monotonic = monotonic;
    this.last = read();
  }

  /** From a file like /proc/uptime; always 0 if there is none that can be read and understood. */
  static Ticker from(Path uptime, Ticker monotonic) {
    try {
      return new SuspendedTime(uptime, monotonic);
    } catch (IOException | NumberFormatException e) {
      // Another system, or a container that hides it.
      return () -> 0;
    }
  }

  /** The time of another ticker, which is read once a millisecond. A result is up to that old. */
  static Ticker lately(Ticker suspended, Ticker monotonic) {
    return new Ticker() {
      private volatile Reading latest = new Reading(monotonic.nanos(), suspended.nanos());

      @Override
      public long nanos() {
        Reading present = latest;
        long now = monotonic.nanos();
        if (now - present.at() >= LATELY_NANOS) {
          present = new Reading(now, suspended.nanos());
          latest = present;
        }
        return present.suspended();
      }
    };
  }

  private record Reading(long at, long suspended) {}

  /** What was read last, if it cannot be read now: no file may be left to open, for a moment. */
  @Override
  public long nanos() {
    try {
      last = read();
    } catch (IOException | NumberFormatException e) {
      // A renewal must not fail for that.
    }
    return last;
  }

  /**
   * The clocks are read one after the other. What the thread stood still in between is no
   * suspension of the host, so a reading is repeated if that took longer than the file is exact.
   * The difference is never less than the greatest that was read.
   */
  private long read() throws IOException {
    long greatest = Long.MIN_VALUE;
    for (int tries = 0; tries < TRIES; tries++) {
      long before = monotonic.nanos();
      String text = Files.readString(uptime).strip();
      long after = monotonic.nanos();
      long sinceBoot = (long) (Double.parseDouble(text.split(" ", 2)[0]) * 1e9);
      greatest = Math.max(greatest, sinceBoot - after);
      if (after - before <= EXACT_NANOS) {
        break;
      }
    }
    return greatest;
  }
}
