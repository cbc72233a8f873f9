package io.mortise.simulation;

import io.mortise.spi.Capability;
import io.mortise.support.document.DocumentStore;
import java.util.EnumSet;
import java.util.SplittableRandom;

/** The sizes and times of one run. Times in nanoseconds. */
final class SimSettings {
  private static final long LEAST_TTL = 600 * VirtualTimeScheduler.MILLI;

  final long ttl;
  final long maxInFlight;
  final long delayLeast;
  final long delayMost;
  final int processes;
  final int actors;
  final int locks;
  final int acquires;
  final long think;
  final long hold;
  private final boolean mixed;
  final EnumSet<Capability> capabilities = EnumSet.allOf(Capability.class);

  SimSettings(SplittableRandom random, Scenario.StoreKind store) {
    if (store == Scenario.StoreKind.DOCUMENTS) {
      capabilities.retainAll(DocumentStore.CAPABILITIES);
      capabilities.add(Capability.PUSH);
    } else if (store == Scenario.StoreKind.DOCUMENTS_WITHOUT_CLOCK) {
      capabilities.retainAll(DocumentStore.CAPABILITIES_WITHOUT_CLOCK);
      capabilities.add(Capability.PUSH);
    }
    switch (random.nextInt(10)) {
      case 0 -> {
        capabilities.remove(Capability.PUSH);
        if (store == Scenario.StoreKind.TABLE) {
          // Nothing there looks for call-backs.
          capabilities.remove(Capability.CALL_BACK);
        }
      }
      case 1 -> {
        if (store == Scenario.StoreKind.TABLE) {
          capabilities.removeAll(EnumSet.of(Capability.QUEUE, Capability.CALL_BACK));
        }
      }
      default -> {}
    }
    // Without pushes there are many polls: a shorter run, or they would be most of the simulation.
    boolean polls = !capabilities.contains(Capability.PUSH);
    ttl = (polls ? 600 : pick(random, 600, 3_000, 15_000)) * VirtualTimeScheduler.MILLI;
    long least = pick(random, 20, 200, 2_000);
    long range = pick(random, 2, 5, 20);
    // A step over documents has several round trips.
    boolean whole = store == Scenario.StoreKind.TABLE;
    delayLeast = (whole ? least : Math.min(least, 500)) * VirtualTimeScheduler.MICRO;
    delayMost = delayLeast * (whole ? range : Math.min(range, 8));
    maxInFlight = Math.max(ttl / pick(random, 1, 3, 10), 8 * delayMost);
    processes = random.nextInt(2, 5);
    actors = random.nextInt(1, 4);
    locks = random.nextInt(1, 4);
    acquires = random.nextInt(3, 9);
    think = pick(random, VirtualTimeScheduler.MILLI, 50 * VirtualTimeScheduler.MILLI, ttl);
    hold = pick(random, VirtualTimeScheduler.MILLI / 10, 20 * VirtualTimeScheduler.MILLI, ttl);
    mixed = random.nextInt(3) == 0;
  }

  /** The TTL of one process. In some worlds they differ; {@link #ttl} is the longest. */
  long ttl(SplittableRandom random) {
    return mixed && random.nextBoolean() ? Math.max(ttl / 5, LEAST_TTL) : ttl;
  }

  private static long pick(SplittableRandom random, long... choices) {
    return choices[random.nextInt(choices.length)];
  }
}
