package io.mortise.internal.runtime;

import io.mortise.spi.time.Ticker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * The total suspension of the host, which never goes back. Linux counts that time in /proc/uptime
 * but not in the monotonic clock. In a container that file may jump without a suspension, so a jump
 * is compared with the kernel's own count.
 */
final class SuspendedTime implements Ticker {
  /** /proc/uptime has hundredths of a second. */
  private static final long EXACT_NANOS = 10_000_000;

  private static final long LATELY_NANOS = 1_000_000;

  private static final int TRIES = 5;

  /** Far more than the difference between readings of one time. */
  private static final long JUMP_NANOS = 1_000_000_000;

  private final Path uptime;
  private final Ticker monotonic;
  private final Supplier<OptionalLong> sinceBoot;

  /** The suspended time minus the kernel's lead over the monotonic clock, at the first reading. */
  private final OptionalLong offset;

  /** Held during a reading: otherwise a slow reading that ends late would look like a decrease. */
  private final ReentrantLock guard = new ReentrantLock();

  /** The greatest reading since the last jump. Guarded by the lock, as is the next field. */
  private long greatest;

  /** Added to readings of the file, to compensate for its jumps. */
  private long shift;

  private SuspendedTime(Path uptime, Ticker monotonic, Supplier<OptionalLong> sinceBoot)
      throws IOException {
    this.uptime = uptime;
    this.monotonic = monotonic;
    this.sinceBoot = sinceBoot;
    this.greatest = read();
    OptionalLong kernel = sinceBoot.get();
    long after = monotonic.nanos();
    this.offset =
        kernel.isPresent() ? OptionalLong.of(greatest - kernel.getAsLong() + after) : kernel;
  }

  /**
   * Reads a file like /proc/uptime; always 0 if there is none that can be read and parsed.
   *
   * @param sinceBoot the kernel's own count, in nanoseconds, or empty; costs more than the file
   */
  static Ticker from(Path uptime, Ticker monotonic, Supplier<OptionalLong> sinceBoot) {
    try {
      return new SuspendedTime(uptime, monotonic, sinceBoot);
    } catch (IOException | NumberFormatException e) {
      // Another system, or a container that hides the file.
      return () -> 0;
    }
  }

  /** The time of another ticker, read once a millisecond. A result is up to that old. */
  static Ticker lately(Ticker suspended, Ticker monotonic) {
    return new Ticker() {
      private volatile long readAt = monotonic.nanos();
      private final AtomicLong latest = new AtomicLong(suspended.nanos());

      @Override
      public long nanos() {
        long now = monotonic.nanos();
        if (now - readAt >= LATELY_NANOS) {
          // Two threads may read at once, and the one that read first may finish last.
          latest.accumulateAndGet(suspended.nanos(), Math::max);
          readAt = now;
        }
        return latest.get();
      }
    };
  }

  /**
   * Queries the kernel if the file cannot be read, as while lxcfs is unavailable, and returns the
   * last value if that fails too, for instance without a free descriptor. Of two readings of one
   * time the greater is nearer to it, since the file rounds down. A jump does not lower the value;
   * later suspensions add to it.
   */
  @Override
  public long nanos() {
    guard.lock();
    try {
      long read = read();
      if (Math.abs(read - greatest) > JUMP_NANOS) {
        shift = Math.max(greatest + shift, afterJump(read + shift)) - read;
        greatest = read;
      }
      greatest = Math.max(greatest, read);
      return greatest + shift;
    } catch (IOException | NumberFormatException e) {
      // A renewal must not fail because of that.
      OptionalLong counted = counted();
      if (counted.isPresent() && counted.getAsLong() - greatest - shift > JUMP_NANOS) {
        shift = counted.getAsLong() - greatest;
      }
      return greatest + shift;
    } finally {
      guard.unlock();
    }
  }

  /** The reading after a jump, or the kernel's count if the two differ. Errs upwards. */
  private long afterJump(long told) {
    long counted = counted().orElse(told);
    return Math.abs(counted - told) > JUMP_NANOS ? counted : told;
  }

  /** The suspended time by the kernel's count; empty if that is unavailable. */
  private OptionalLong counted() {
    long before = monotonic.nanos();
    OptionalLong kernel = offset.isPresent() ? sinceBoot.get() : offset;
    return kernel.isPresent()
        ? OptionalLong.of(kernel.getAsLong() - before + offset.orElseThrow())
        : kernel;
  }

  /**
   * Reads the clocks one after the other. A pause of the thread in between is no suspension of the
   * host, so a reading is repeated if it took longer than the file's resolution. The difference is
   * never less than the greatest read so far.
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
