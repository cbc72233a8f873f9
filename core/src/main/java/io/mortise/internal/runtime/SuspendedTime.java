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
 * For how long the host has been suspended, which never goes back. Linux counts that time in
 * /proc/uptime but not in the monotonic clock. In a container that file may jump without a
 * suspension, so a jump is compared with the kernel's own count.
 */
final class SuspendedTime implements Ticker {
  /** /proc/uptime has hundredths of a second. */
  private static final long EXACT_NANOS = 10_000_000;

  private static final long LATELY_NANOS = 1_000_000;

  private static final int TRIES = 5;

  /** Far more than readings of one time differ by. */
  private static final long JUMP_NANOS = 1_000_000_000;

  private final Path uptime;
  private final Ticker monotonic;
  private final Supplier<OptionalLong> sinceBoot;

  /** The suspended time minus the kernel's lead over the monotonic clock, at the first reading. */
  private final OptionalLong offset;

  /** Held during a reading: else a slow reading that ends late would look like a fall. */
  private final ReentrantLock guard = new ReentrantLock();

  /** Of the readings since the last jump. Guarded by the lock, as the next. */
  private long greatest;

  /** Added to readings of the file, to make up for its jumps. */
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
   * From a file like /proc/uptime; always 0 if there is none that can be read and understood.
   *
   * @param sinceBoot the kernel's own count, in nanoseconds, or empty; costs more than the file
   */
  static Ticker from(Path uptime, Ticker monotonic, Supplier<OptionalLong> sinceBoot) {
    try {
      return new SuspendedTime(uptime, monotonic, sinceBoot);
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
   * Asks the kernel if the file cannot be read, as while lxcfs is away, and returns the last value
   * if that cannot be asked either, such as for want of a descriptor. Of two readings of one time
   * the greater is nearer to it, since the file rounds down. A jump does not lower the value;
   * suspensions after it add to it.
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
      // A renewal must not fail for that.
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

  /** The suspended time by the kernel's count; empty if that cannot be asked. */
  private OptionalLong counted() {
    long before = monotonic.nanos();
    OptionalLong kernel = offset.isPresent() ? sinceBoot.get() : offset;
    return kernel.isPresent()
        ? OptionalLong.of(kernel.getAsLong() - before + offset.orElseThrow())
        : kernel;
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
