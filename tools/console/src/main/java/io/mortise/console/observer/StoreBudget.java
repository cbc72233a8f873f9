package io.mortise.console.observer;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The budget of observation in the store's time. Waiting for the store counts as its time, an
 * overestimate. A request that took many times as long as usual has waited for a silent store, and
 * counts as a few usual ones. A short burst is free, so that a new console has data at once.
 */
final class StoreBudget {
  private static final double BURST = 300e6;
  private static final long WINDOW = Duration.ofMinutes(1).toNanos();

  /** The longest delay of other looks caused by looks on demand, from the previous one on. */
  private static final long PUT_OFF = Duration.ofSeconds(10).toNanos();

  /** A look that took longer, and many times the usual, has waited for a silent store. */
  private static final double WAITED = 50e6;

  private static final int TIMES_USUAL = 4;

  /** The reciprocal weight of a look in the usual time. */
  private static final int WEIGHT = 8;

  private final double share;
  private final long started;
  private final Deque<Cost> costs = new ArrayDeque<>();
  private double credit = BURST;
  private long creditAt;
  private long chargedAt;
  private long looks;
  private long nanos;
  private double usual;

  StoreBudget(double share, long now) {
    this.share = share;
    this.started = now;
    this.creditAt = now;
    this.chargedAt = now;
  }

  private record Cost(long at, double nanos) {}

  double share() {
    return share;
  }

  /** Charges the time of a look. */
  synchronized void charge(long now, long took) {
    refill(now);
    double work = workOf(took);
    credit -= work;
    chargedAt = now;
    count(now, took, work);
  }

  /** Charges the time of a look on demand, which delays others only up to a limit. */
  synchronized void chargeOnDemand(long now, long took) {
    refill(now);
    double deepest = Math.min(credit, -share * (chargedAt + PUT_OFF - now));
    double work = workOf(took);
    credit = Math.max(credit - work, deepest);
    count(now, took, work);
  }

  private double workOf(long took) {
    double work =
        looks == 0 ? took : Math.min((double) took, Math.max(WAITED, usual * TIMES_USUAL));
    usual += (work - usual) / (looks == 0 ? 1 : WEIGHT);
    return work;
  }

  private void count(long now, long took, double work) {
    looks++;
    nanos += took;
    costs.add(new Cost(now, work));
    forget(now);
  }

  /** The delay of the next look; 0 for none. */
  synchronized long waitNanos(long now) {
    refill(now);
    return credit > 0 ? 0 : (long) (-credit / share) + 1;
  }

  /** The cost, with the share of the last minute, or of the time since the start. */
  synchronized LookCost cost(long now) {
    forget(now);
    double sum = costs.stream().mapToDouble(Cost::nanos).sum();
    double time = Math.min(now - started, WINDOW);
    return new LookCost(
        sum / Math.max(1e9, time),
        looks,
        Duration.ofNanos(nanos),
        Duration.ofNanos(waitNanos(now)));
  }

  private void refill(long now) {
    double passed = now - creditAt;
    credit = Math.min(BURST, credit + share * passed);
    creditAt = now;
  }

  private void forget(long now) {
    while (!costs.isEmpty() && now - costs.element().at() > WINDOW) {
      costs.remove();
    }
  }
}
