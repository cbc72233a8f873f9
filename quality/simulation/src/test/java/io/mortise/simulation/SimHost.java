package io.mortise.simulation;

import java.util.SplittableRandom;

/** A machine: its monotonic clock, which runs a little fast or slow, and whether it runs at all. */
final class SimHost {
  /** Clock rates are off by at most this, as the engine assumes of them. */
  static final long DRIFT_PPM = 500;

  private static final long MILLION = 1_000_000;

  private final VirtualTimeScheduler virtualTimeScheduler;
  private final long base;
  private final long ppm;
  private long runsAt;
  private long stoppedAt = Long.MIN_VALUE;

  /** Counted from the beginning of a suspension: until its end nobody here looks. */
  private long asleep;

  SimHost(VirtualTimeScheduler virtualTimeScheduler, SplittableRandom random) {
    this.virtualTimeScheduler = virtualTimeScheduler;
    // As a JVM's clock: from anywhere, and it may pass the end of the numbers.
    this.base =
        switch (random.nextInt(3)) {
          case 0 -> 0;
          case 1 -> Long.MAX_VALUE - random.nextLong(20 * VirtualTimeScheduler.SECOND);
          default -> random.nextLong();
        };
    this.ppm =
        switch (random.nextInt(3)) {
          case 0 -> DRIFT_PPM;
          case 1 -> -DRIFT_PPM;
          default -> random.nextLong(-DRIFT_PPM, DRIFT_PPM + 1);
        };
  }

  /** The monotonic clock of this host. */
  long nanos() {
    long ran = virtualTimeScheduler.now() - asleep;
    return base + ran + ran * ppm / MILLION;
  }

  /** The first true time at which this host's clock shows that, if it is not suspended before. */
  long trueTime(long local) {
    long shown = local - base;
    return shown + asleep - shown * ppm / (MILLION + ppm) + 1;
  }

  /** The process is stopped: nothing of it runs, its clock does. */
  void pause(long nanos) {
    runsAt = Math.max(runsAt, virtualTimeScheduler.now() + nanos);
    stoppedAt = runsAt;
  }

  /** The host is suspended: its monotonic clock stands still too. */
  void suspend(long nanos) {
    if (runsAt <= virtualTimeScheduler.now()) {
      runsAt = virtualTimeScheduler.now() + nanos;
      stoppedAt = runsAt;
      asleep += nanos;
    }
  }

  /** How long it was suspended so far, as a clock that counts it shows. */
  long suspended() {
    return asleep;
  }

  long runsAt(long now) {
    return Math.max(runsAt, now);
  }

  /** Whether it ran, without a stop, since then. */
  boolean ranSince(long time) {
    return stoppedAt < time;
  }
}
