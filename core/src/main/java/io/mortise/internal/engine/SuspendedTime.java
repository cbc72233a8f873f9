package io.mortise.internal.engine;

import io.mortise.spi.Ticker;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * For how long the host has been suspended. Linux counts that time in /proc/uptime but not in the
 * monotonic clock.
 */
final class SuspendedTime {
  private SuspendedTime() {}

  /** From a file like /proc/uptime; always 0 if there is none that can be read and understood. */
  static Ticker from(Path uptime) {
    Ticker suspended = () -> (long) (seconds(uptime) * 1e9) - System.nanoTime();
    try {
      var unused = suspended.nanos();
      return suspended;
    } catch (UncheckedIOException | NumberFormatException e) {
      // Another system, or a container that hides it.
      return () -> 0;
    }
  }

  private static double seconds(Path uptime) {
    try {
      String text = Files.readString(uptime).strip();
      return Double.parseDouble(text.split(" ", 2)[0]);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
