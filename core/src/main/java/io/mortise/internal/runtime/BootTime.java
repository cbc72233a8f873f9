package io.mortise.internal.runtime;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * The time since the boot of the host, suspensions included, as the kernel records it for a new
 * thread. {@code /proc/uptime} has the same value, unless it is a file of lxcfs in a container:
 * that counts from the start of the container, and may jump (lxc/lxcfs#184). In a time namespace
 * both are shifted by its offset of {@code boottime}.
 */
public final class BootTime {
  private static final Path STAT = Path.of("/proc/thread-self/stat");

  /** The 22nd field of the file, counted from the field behind the name. */
  private static final int STARTED = 19;

  /** The unit of that field: a hundredth of a second on all systems with a JVM. */
  private static final long TICK_NANOS = 10_000_000;

  private BootTime() {}

  /**
   * Reads the time. Starts a thread and waits for its end.
   *
   * @return empty on another system, or if no thread can be started now
   */
  public static OptionalLong nanos() {
    try {
      return CompletableFuture.supplyAsync(
              BootTime::started, task -> DaemonThreads.create("mortise-boot-time", task).start())
          .join();
    } catch (CompletionException | OutOfMemoryError e) {
      return OptionalLong.empty();
    }
  }

  private static OptionalLong started() {
    try {
      String stat = Files.readString(STAT);
      // The name in parentheses may hold blanks and parentheses.
      String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
      long ticks = Long.parseLong(fields[STARTED]);
      // Some emulators leave it at 0.
      return ticks > 0 ? OptionalLong.of(ticks * TICK_NANOS) : OptionalLong.empty();
    } catch (IOException e) {
      return OptionalLong.empty();
    }
  }
}
