package io.mortise.jdbc.dialect;

import io.mortise.StoreUnfitException;
import io.mortise.jdbc.table.SessionRepository;
import io.mortise.spi.time.Ticker;
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

  private HostClock(HostBoot boot, long offset, InstantSource wall) {
    this.monotonic = kind(boot).equals(MONOTONIC);
    this.offset = offset;
    this.ticker = boot.ticker();
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
    HostBoot boot = HostBoot.of(ticker);
    String kind = kind(boot);
    Map<String, String> facts = repository.facts();
    String known = facts.get("clock");
    if (known == null) {
      repository.putFact("clock", kind, true);
      repository.putFact("boot", boot.name(), true);
      HostClock fresh = started(boot, 0, wall);
      repository.putFact("offset_us", Long.toString(fresh.offset), true);
      return fresh;
    }
    if (!known.equals(kind)) {
      throw new StoreUnfitException(
          "Store '%s' counts time by the %s clock, which this process does not have. Use it from one kind of system only."
              .formatted(display, known));
    }
    String before = facts.getOrDefault("boot", "");
    if (before.equals(boot.name())) {
      return known(facts, boot, wall);
    }
    if (boot.isSameBoot(before)) {
      throw new StoreUnfitException(
          "Store '%s' counts time by the clock of another time namespace of this machine, whose offset is not known. Start all processes in the same."
              .formatted(display));
    }
    repository.clearSessions();
    HostClock fresh = started(boot, repository.latest(), wall);
    repository.putFact("boot", boot.name(), false);
    repository.putFact("offset_us", Long.toString(fresh.offset), false);
    return fresh;
  }

  /** The same, as long as nothing has to be written or refused for it; else null. */
  static @Nullable HostClock agreed(Map<String, String> facts, Ticker ticker, InstantSource wall) {
    HostBoot boot = HostBoot.of(ticker);
    return kind(boot).equals(facts.get("clock")) && boot.name().equals(facts.get("boot"))
        ? known(facts, boot, wall)
        : null;
  }

  private static String kind(HostBoot boot) {
    return boot.name().isEmpty() ? WALL : MONOTONIC;
  }

  private static HostClock known(Map<String, String> facts, HostBoot boot, InstantSource wall) {
    return new HostClock(boot, Long.parseLong(facts.getOrDefault("offset_us", "0")), wall);
  }

  /** Begins at the time of day, but never before the latest time in the file. */
  private static HostClock started(HostBoot boot, long latest, InstantSource wall) {
    long offset =
        boot.name().isEmpty() ? 0 : Math.max(micros(wall), latest) - boot.ticker().nanos() / 1000;
    return new HostClock(boot, offset, wall);
  }

  private static long micros(InstantSource wall) {
    return ChronoUnit.MICROS.between(Instant.EPOCH, wall.instant());
  }
}
