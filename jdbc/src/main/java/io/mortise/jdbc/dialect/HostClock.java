package io.mortise.jdbc.dialect;

import io.mortise.StoreUnfitException;
import io.mortise.jdbc.table.SessionRepository;
import io.mortise.spi.time.Ticker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The clock that all processes of one host share, for a store that is a file.
 *
 * <p>On Linux it is the monotonic clock since boot, which is the same in every process, shifted
 * once per boot to the time of day: the shift stands in the file. A change of the time of day
 * neither frees nor prolongs a lock, and while the machine is suspended a lease ages as little as
 * its holder. Sessions of another boot have no process any more. Elsewhere it is the time of day,
 * and setting it forward may free locks. Why: docs/adr/0010-clock-of-the-sqlite-store.md.
 */
final class HostClock {
  private static final String MONOTONIC = "monotonic";
  private static final String WALL = "wall";

  private final boolean monotonic;
  private final long offset;
  private final Ticker ticker;
  private final InstantSource wall;

  private HostClock(boolean monotonic, long offset, Ticker ticker, InstantSource wall) {
    this.monotonic = monotonic;
    this.offset = offset;
    this.ticker = ticker;
    this.wall = wall;
  }

  /** Whether setting the time of day leaves it alone. */
  boolean isMonotonic() {
    return monotonic;
  }

  long micros() {
    return monotonic ? offset + ticker.nanos() / 1000 : micros(wall);
  }

  /**
   * The clock that the file's processes agreed upon; the first process after a boot ends what was
   * before. Runs inside a transaction.
   *
   * @throws StoreUnfitException if this process cannot read that clock
   */
  static HostClock agree(
      SessionRepository repository, String display, Ticker ticker, InstantSource wall)
      throws SQLException {
    String boot = boot(ticker);
    String kind = boot.isEmpty() ? WALL : MONOTONIC;
    Map<String, String> facts = repository.facts();
    String known = facts.get("clock");
    if (known == null) {
      repository.putFact("clock", kind, true);
      repository.putFact("boot", boot, true);
      HostClock fresh = started(boot, 0, ticker, wall);
      repository.putFact("offset_us", Long.toString(fresh.offset), true);
      return fresh;
    }
    if (!known.equals(kind)) {
      throw new StoreUnfitException(
          "Store '%s' counts time by the %s clock, which this process does not have. Use it from one kind of system only."
              .formatted(display, known));
    }
    String before = facts.getOrDefault("boot", "");
    if (before.equals(boot)) {
      return known(facts, boot, ticker, wall);
    }
    if (before
        .substring(0, before.indexOf(' ') + 1)
        .equals(boot.substring(0, boot.indexOf(' ') + 1))) {
      throw new StoreUnfitException(
          "Store '%s' is used from another time namespace of this machine, whose clock differs. Start both processes in the same."
              .formatted(display));
    }
    repository.clearSessions();
    HostClock fresh = started(boot, repository.latest(), ticker, wall);
    repository.putFact("boot", boot, false);
    repository.putFact("offset_us", Long.toString(fresh.offset), false);
    return fresh;
  }

  /** The same, as long as nothing has to be written or refused for it; else null. */
  static @Nullable HostClock agreed(Map<String, String> facts, Ticker ticker, InstantSource wall) {
    String boot = boot(ticker);
    return (boot.isEmpty() ? WALL : MONOTONIC).equals(facts.get("clock"))
            && boot.equals(facts.get("boot"))
        ? known(facts, boot, ticker, wall)
        : null;
  }

  private static HostClock known(
      Map<String, String> facts, String boot, Ticker ticker, InstantSource wall) {
    long offset = Long.parseLong(facts.getOrDefault("offset_us", "0"));
    return new HostClock(!boot.isEmpty(), offset, ticker, wall);
  }

  /** Begins at the time of day, but never before what the file has seen. */
  private static HostClock started(String boot, long latest, Ticker ticker, InstantSource wall) {
    long offset = boot.isEmpty() ? 0 : Math.max(micros(wall), latest) - ticker.nanos() / 1000;
    return new HostClock(!boot.isEmpty(), offset, ticker, wall);
  }

  private static long micros(InstantSource wall) {
    return ChronoUnit.MICROS.between(Instant.EPOCH, wall.instant());
  }

  /** Names this boot and its time namespace; empty if there is no clock common to all processes. */
  private static String boot(Ticker ticker) {
    try {
      Path id = Path.of("/proc/sys/kernel/random/boot_id");
      double uptime =
          Double.parseDouble(Files.readString(Path.of("/proc/uptime")).split(" ", 2)[0]);
      long nanos = ticker.nanos();
      if (nanos < 0 || nanos / 1e9 > uptime + 1) {
        // Not the monotonic clock of the system.
        return "";
      }
      Path time = Path.of("/proc/self/ns/time");
      String namespace =
          Files.isSymbolicLink(time) ? Files.readSymbolicLink(time).toString() : "time";
      return Files.readString(id).strip() + " " + namespace;
    } catch (IOException | RuntimeException e) {
      return "";
    }
  }
}
