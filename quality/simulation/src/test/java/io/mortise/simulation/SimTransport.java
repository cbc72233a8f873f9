package io.mortise.simulation;

import java.util.EnumMap;
import java.util.Map;
import java.util.SplittableRandom;

/** The transport of a run: delays of messages, and probabilities of faults. */
final class SimTransport {
  private static final double[] RARELY = {0.01, 0.05, 0.3};
  private static final double[] OFTEN = {0.2, 0.5, 0.9};

  private final SimSettings settings;
  private final SplittableRandom random;
  private final Map<SimFault, Double> likely = new EnumMap<>(SimFault.class);

  /** Whether requests may be executed that were sent longer than {@code maxInFlight} ago. */
  final boolean forgetsMaxInFlight;

  /** The longest delay of a straggler. */
  final long longestInFlight;

  /** Whether requests of a connection, and answers, arrive in the order in which they were sent. */
  final boolean keepsOrder;

  private boolean healed;

  SimTransport(VirtualTimeScheduler virtualTimeScheduler, SimSettings settings, Scenario scenario) {
    this.settings = settings;
    this.random = virtualTimeScheduler.random();
    for (SimFault simFault : scenario.faults()) {
      boolean often = simFault == SimFault.SLOW_RENEWAL;
      likely.put(simFault, (often ? OFTEN : RARELY)[random.nextInt(3)]);
    }
    boolean late = scenario.store() == Scenario.StoreKind.DOCUMENTS_WITHOUT_CLOCK;
    this.forgetsMaxInFlight =
        late || scenario.rules().wire().contains(Scenario.TransportFlaw.FORGETS_MAX_IN_FLIGHT);
    if (late) {
      long[] longest = {settings.maxInFlight, 2 * settings.ttl, 8 * settings.ttl};
      this.longestInFlight = longest[random.nextInt(longest.length)];
    } else {
      this.longestInFlight = settings.maxInFlight * (forgetsMaxInFlight ? 3 : 1);
    }
    this.keepsOrder = scenario.store() == Scenario.StoreKind.TABLE || random.nextBoolean();
  }

  /** Ends all faults. */
  void heal() {
    healed = true;
  }

  boolean happens(SimFault simFault) {
    Double chance = likely.get(simFault);
    return chance != null && !healed && random.nextDouble() < chance;
  }

  /** Like {@link #happens}, but also after healing: pushes are never reliable. */
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

  /** How much longer than other requests a renewal takes. */
  long renewalDelay() {
    return happens(SimFault.SLOW_RENEWAL) ? random.nextLong(settings.ttl) : 0;
  }

  /** When a straggler that was sent then arrives: before the store's bound, if it has one. */
  long late(long now, long sentAt) {
    long last = sentAt + longestInFlight;
    return last <= now ? now : random.nextLong(now, last);
  }

  /** The time after which a missing answer counts as a failure. */
  long timeout() {
    return random.nextLong(settings.maxInFlight / 2, settings.maxInFlight);
  }

  long maxInFlight() {
    return settings.maxInFlight;
  }
}
