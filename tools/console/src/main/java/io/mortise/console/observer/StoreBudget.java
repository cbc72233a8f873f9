package io.mortise.console.observer;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * How much of the store's time looking may take. Time that was waited for the store counts as the
 * store's, which is too much rather than too little; but a look that took many times as long as
 * usual has waited for a store that stood still, and counts as a few usual ones. A short burst is
 * free, so that a console that has just begun shows something.
 */
final class StoreBudget {
  private static final double BURST = 300e6;
  private static final long WINDOW = Duration.ofMinutes(1).toNanos();

  /** Looks on demand put off the next other one by no more, after the one before. */
  private static final long PUT_OFF = Duration.ofSeconds(10).toNanos();

  /** A look that took longer, and as many times the usual, has waited. */
  private static final double WAITED = 50e6;

  private static final int TIMES_USUAL = 4;

  /** The weight of a look in the usual time is one of so many. */
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

  /** Counts what a look has taken. */
  synchronized void charge(long now, long took) {
    refill(now);
    double work = workOf(took);
    credit -= work;
    chargedAt = now;
    count(now, took, work);
  }

  /** Counts what a look has taken that somebody asked for: others go on all the same. */
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

  /** How long to wait before the next look; 0 if it may be now. */
  synchronized long waitNanos(long now) {
    refill(now);
    return credit > 0 ? 0 : (long) (-credit / share) + 1;
  }

  /** The share is that of the last minute, or of the time since the start. */
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
