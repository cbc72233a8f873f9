package io.mortise.simulation;

import java.util.EnumMap;
import java.util.Map;
import java.util.SplittableRandom;

/** How messages fare in one run: how long they take and how likely each mishap is. */
final class SimTransport {
  private final SimSettings settings;
  private final SplittableRandom random;
  private final Map<SimFault, Double> likely = new EnumMap<>(SimFault.class);
  final boolean forgetsMaxInFlight;
  private boolean healed;

  SimTransport(VirtualTimeScheduler virtualTimeScheduler, SimSettings settings, Scenario scenario) {
    this.settings = settings;
    this.random = virtualTimeScheduler.random();
    for (SimFault simFault : scenario.faults()) {
      likely.put(simFault, new double[] {0.01, 0.05, 0.3}[random.nextInt(3)]);
    }
    this.forgetsMaxInFlight =
        scenario.rules().wire().contains(Scenario.TransportFlaw.FORGETS_MAX_IN_FLIGHT);
  }

  /** From now on nothing goes wrong. */
  void heal() {
    healed = true;
  }

  boolean happens(SimFault simFault) {
    Double chance = likely.get(simFault);
    return chance != null && !healed && random.nextDouble() < chance;
  }

  /** As {@link #happens}, but also when all else is healed: pushes are never to be relied upon. */
  boolean happensAlways(SimFault simFault) {
    Double chance = likely.get(simFault);
    return chance != null && random.nextDouble() < chance;
  }

  long delay() {
    if (happens(SimFault.SLOW)) {
      return random.nextLong(settings.maxInFlight);
    }
    return random.nextLong(settings.delayLeast, settings.delayMost);
  }

  /** When a straggler that was sent then arrives: before the store's bound. */
  long late(long now, long sentAt) {
    long last = sentAt + settings.maxInFlight * (forgetsMaxInFlight ? 3 : 1);
    return last <= now ? now : random.nextLong(now, last);
  }

  /** How long until a silence counts as a failure. */
  long timeout() {
    return random.nextLong(settings.maxInFlight / 2, settings.maxInFlight);
  }

  long maxInFlight() {
    return settings.maxInFlight;
  }
}
