package io.mortise.internal.runtime;

import io.mortise.spi.time.Ticker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/**
 * For how long the host has been suspended, which never goes back. Linux counts that time in
 * /proc/uptime but not in the monotonic clock.
 */
final class SuspendedTime implements Ticker {
  /** /proc/uptime has hundredths of a second. */
  private static final long EXACT_NANOS = 10_000_000;

  private static final long LATELY_NANOS = 1_000_000;

  private static final int TRIES = 5;

  /** Far more than readings of one time differ by. */
  private static final long FALL_NANOS = 1_000_000_000;

  private final Path uptime;
  private final Ticker monotonic;

  /** Held during a reading: else a slow reading that ends late would look like a fall. */
  private final ReentrantLock guard = new ReentrantLock();

  /** Of the readings since the last fall. Guarded by the lock, as the next. */
  private long greatest;

  /** How far readings have fallen: what is told does not. */
  private long fallen;

  private SuspendedTime(Path uptime, Ticker monotonic) throws IOException {
    this.uptime = uptime;
    this.monotonic = monotonic;
    this.greatest = read();
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
      private volatile long readAt = monotonic.nanos();
      private final AtomicLong latest = new AtomicLong(suspended.nanos());

      @Override
      public long nanos() {
        long now = monotonic.nanos();
        if (now - readAt >= LATELY_NANOS) {
          // Two threads may read at once, and the one that read first come last.
          latest.accumulateAndGet(suspended.nanos(), Math::max);
          readAt = now;
        }
        return latest.get();
      }
    };
  }

  /**
   * What was read before, if it cannot be read now: no file may be left to open, for a moment. Of
   * two readings of one time the greater is nearer to it, since the file rounds down. A reading
   * that is far smaller corrects one that was wrong, as a container's may be for a moment: what was
   * told stays, and later suspensions are added to it.
   */
  @Override
  public long nanos() {
    guard.lock();
    try {
      long read = read();
      if (greatest - read > FALL_NANOS) {
        fallen += greatest - read;
        greatest = read;
      }
      greatest = Math.max(greatest, read);
      return greatest + fallen;
    } catch (IOException | NumberFormatException e) {
      // A renewal must not fail for that.
      return greatest + fallen;
    } finally {
      guard.unlock();
    }
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
