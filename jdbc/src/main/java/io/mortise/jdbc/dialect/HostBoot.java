package io.mortise.jdbc.dialect;

import io.mortise.internal.runtime.BootTime;
import io.mortise.spi.time.Ticker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

/**
 * The boot of this host, and the monotonic clock that its processes share. A process in a time
 * namespace has a clock of its own, and the kernel tells how far that is ahead of the host's.
 *
 * @param name of the boot, a blank, and the time namespace whose clock it is; empty if there is no
 *     clock common to all processes
 * @param ticker the same in each process of that name
 */
record HostBoot(String name, Ticker ticker) {
  /** The host's own namespace: {@code PROC_TIME_INIT_INO} of the kernel. */
  private static final String HOST = "time:[4026531834]";

  private static final Path NAMESPACES = Path.of("/proc/self/ns");

  static HostBoot of(Ticker ticker) {
    try {
      String id = Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip();
      String namespace = namespace("time");
      Ticker host = ticker;
      long bootAhead = 0;
      // Else the offsets are those of another namespace.
      if (!namespace.isEmpty() && namespace.equals(namespace("time_for_children"))) {
        long ahead = offset("monotonic");
        bootAhead = offset("boottime");
        host = () -> ticker.nanos() - ahead;
        namespace = HOST;
      }
      OptionalLong sinceBoot = BootTime.nanos();
      long nanos = host.nanos();
      if (nanos >= 0
          && sinceBoot.isPresent()
          && nanos <= sinceBoot.getAsLong() - bootAhead + TimeUnit.SECONDS.toNanos(1)) {
        return new HostBoot(id + " " + namespace, host);
      }
      // Not the monotonic clock of the system.
    } catch (IOException | RuntimeException e) {
      // Not Linux, or hidden.
    }
    return new HostBoot("", ticker);
  }

  /** Whether another boot is this one, as another time namespace shows it. */
  boolean isSameBoot(String other) {
    return other.startsWith(name.substring(0, name.indexOf(' ') + 1));
  }

  /** Empty before Linux 5.6, which has none. */
  private static String namespace(String kind) throws IOException {
    Path link = NAMESPACES.resolve(kind);
    return Files.isSymbolicLink(link) ? Files.readSymbolicLink(link).toString() : "";
  }

  /** How far a clock of this time namespace is ahead of the host's, in nanoseconds. */
  private static long offset(String clock) throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/self/timens_offsets"))) {
      String[] fields = line.strip().split(" +", -1);
      if (fields[0].equals(clock)) {
        return TimeUnit.SECONDS.toNanos(Long.parseLong(fields[1])) + Long.parseLong(fields[2]);
      }
    }
    throw new IOException("No offset of " + clock + ".");
  }
}
