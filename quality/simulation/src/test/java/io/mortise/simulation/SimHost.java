package io.mortise.simulation;

import java.util.SplittableRandom;

/** A machine, with a monotonic clock that runs a little fast or slow, and with pauses. */
final class SimHost {
  /** Clock rates are off by at most this, as the engine assumes of them. */
  static final long DRIFT_PPM = 500;

  private static final long MILLION = 1_000_000;

  private final VirtualTimeScheduler virtualTimeScheduler;
  private final long base;
  private final long ppm;
  private long runsAt;
  private long stoppedAt = Long.MIN_VALUE;

  /** Counted from the beginning of a suspension: no process here looks before its end. */
  private long asleep;

  SimHost(VirtualTimeScheduler virtualTimeScheduler, SplittableRandom random) {
    this.virtualTimeScheduler = virtualTimeScheduler;
    // Like a JVM's clock it starts anywhere, and may overflow.
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

  /** Stops the process while its clock runs on. */
  void pause(long nanos) {
    runsAt = Math.max(runsAt, virtualTimeScheduler.now() + nanos);
    stoppedAt = runsAt;
  }

  /** Suspends the host and its monotonic clock. */
  void suspend(long nanos) {
    if (runsAt <= virtualTimeScheduler.now()) {
      runsAt = virtualTimeScheduler.now() + nanos;
      stoppedAt = runsAt;
      asleep += nanos;
    }
  }

  /** The total time of suspension, as a clock that includes it shows. */
  long suspended() {
    return asleep;
  }

  long runsAt(long now) {
    return Math.max(runsAt, now);
  }

  /** Whether it has run without a pause since then. */
  boolean ranSince(long time) {
    return stoppedAt < time;
  }
}
