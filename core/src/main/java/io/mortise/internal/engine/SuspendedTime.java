package io.mortise.internal.engine;

import io.mortise.spi.Ticker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * For how long the host has been suspended. Linux counts that time in /proc/uptime but not in the
 * monotonic clock.
 */
final class SuspendedTime implements Ticker {
  private final Path uptime;
  private volatile long last;

  private SuspendedTime(Path uptime) throws IOException {
    this.uptime = uptime;
    this.last = read();
  }

  /** From a file like /proc/uptime; always 0 if there is none that can be read and understood. */
  static Ticker from(Path uptime) {
    try {
      return new SuspendedTime(uptime);
    } catch (IOException | NumberFormatException e) {
      // Another system, or a container that hides it.
      return () -> 0;
    }
  }

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

  private long read() throws IOException {
    String text = Files.readString(uptime).strip();
    return (long) (Double.parseDouble(text.split(" ", 2)[0]) * 1e9) - System.nanoTime();
  }
}
