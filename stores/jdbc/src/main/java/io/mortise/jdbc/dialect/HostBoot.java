package io.mortise.jdbc.dialect;

import io.mortise.internal.runtime.BootTime;
import io.mortise.spi.time.Ticker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

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
  private static final Path ID = Path.of("/proc/sys/kernel/random/boot_id");
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  static HostBoot of(Ticker ticker) {
    try {
      if (isOfContainer()) {
        return new HostBoot("", ticker);
      }
      String id = Files.readString(ID).strip();
      String namespace = namespace("time");
      Offsets ahead = namespace.equals(namespace("time_for_children")) ? Offsets.read() : null;
      long bootAhead = ahead == null ? 0 : ahead.boottime();
      long monotonicAhead = ahead == null ? 0 : ahead.monotonic();
      Ticker host = () -> ticker.nanos() - monotonicAhead;
      // First: this thread may stand still before the boot time is read.
      long nanos = host.nanos();
      long limit = sinceBoot() - bootAhead + SECOND;
      if (nanos >= 0 && nanos <= limit) {
        return new HostBoot(id + " " + (ahead == null ? namespace : HOST), host);
      }
      // Not the monotonic clock of the system.
    } catch (IOException | RuntimeException e) {
      // Not Linux, or hidden.
    }
    return new HostBoot("", ticker);
  }

  /**
   * Whether the id of the boot is mounted over that of the kernel, as LXC and systemd-nspawn do.
   * Such an id changes with each start of the container, while locks of others live on.
   */
  private static boolean isOfContainer() throws IOException {
    Path ofKernel = Path.of("/proc/sys/kernel/ostype");
    return !Files.getAttribute(ID, "unix:dev").equals(Files.getAttribute(ofKernel, "unix:dev"));
  }

  /** The file is asked only where no thread can be started now. */
  private static long sinceBoot() throws IOException {
    OptionalLong kernel = BootTime.nanos();
    if (kernel.isPresent()) {
      return kernel.getAsLong();
    }
    String uptime = Files.readString(Path.of("/proc/uptime"));
    return (long) (Double.parseDouble(uptime.split(" ", 2)[0]) * SECOND);
  }

  /** Whether a stored name is of this boot, possibly of another time namespace. */
  boolean isSameBoot(String other) {
    return other.startsWith(name.substring(0, name.indexOf(' ') + 1));
  }

  /** The id of the namespace; "time" before Linux 5.6, which has none. */
  private static String namespace(String kind) throws IOException {
    Path link = NAMESPACES.resolve(kind);
    return Files.isSymbolicLink(link) ? Files.readSymbolicLink(link).toString() : "time";
  }

  /** The clocks of the time namespace of children, ahead of the host's, in nanoseconds. */
  private record Offsets(long monotonic, long boottime) {
    private static final Path FILE = Path.of("/proc/self/timens_offsets");

    /** Null where the kernel does not tell them. */
    static @Nullable Offsets read() {
      try {
        List<String> lines = Files.readAllLines(FILE);
        return new Offsets(of("monotonic", lines), of("boottime", lines));
      } catch (IOException | RuntimeException e) {
        return null;
      }
    }

    private static long of(String clock, List<String> lines) {
      String[] fields =
          lines.stream()
              .map(line -> line.strip().split(" +", -1))
              .filter(each -> each[0].equals(clock))
              .findFirst()
              .orElseThrow();
      return SECOND * Long.parseLong(fields[1]) + Long.parseLong(fields[2]);
    }
  }
}
