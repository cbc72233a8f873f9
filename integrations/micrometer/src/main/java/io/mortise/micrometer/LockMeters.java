package io.mortise.micrometer;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.LongTaskTimer;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.mortise.admin.LockParticipant.Access;
import io.mortise.event.LeaseEnd;
import io.mortise.event.LockListener.AcquireOutcome;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The meters of one value of tag {@code lock} on one store. Timers are registered when they are
 * first needed; all causes of loss at once, so that the first loss is a rise from zero.
 */
@SuppressWarnings("EnumOrdinal") // Places in arrays, within this JVM only.
final class LockMeters {
  private static final int ACCESSES = Access.values().length;

  final LongTaskTimer waiting;
  final LongTaskTimer holding;
  private final MeterRegistry registry;
  private final String lock;
  private final String store;
  private final boolean histograms;
  private final AtomicReferenceArray<@Nullable Timer> acquires =
      new AtomicReferenceArray<>(AcquireOutcome.values().length * ACCESSES);
  private final AtomicReferenceArray<@Nullable Timer> holds =
      new AtomicReferenceArray<>(LeaseEnd.values().length * ACCESSES);
  private final Counter[] losses = new Counter[LeaseEnd.values().length];

  LockMeters(MeterRegistry registry, String lock, String store, boolean histograms) {
    this.registry = registry;
    this.lock = lock;
    this.store = store;
    this.histograms = histograms;
    this.waiting =
        LongTaskTimer.builder("mortise.waiting")
            .description("Acquires that have not ended yet")
            .tags("lock", lock, "store", store)
            .register(registry);
    this.holding =
        LongTaskTimer.builder("mortise.holding")
            .description("Leases that are held")
            .tags("lock", lock, "store", store)
            .register(registry);
    for (LeaseEnd end : LeaseEnd.values()) {
      if (end.isLoss()) {
        losses[end.ordinal()] =
            Counter.builder("mortise.lease.lost")
                .description("Leases that ended otherwise than by their holder's will")
                .tags("lock", lock, "cause", LockTags.text(end))
                .register(registry);
      }
    }
  }

  Timer acquire(Access access, AcquireOutcome outcome) {
    return timer(
        acquires,
        access,
        outcome,
        "outcome",
        "mortise.acquire",
        "From the call of an acquire to its end");
  }

  Timer hold(Access access, LeaseEnd end) {
    return timer(holds, access, end, "end", "mortise.hold", "From the grant of a lease to its end");
  }

  void lost(LeaseEnd end) {
    losses[end.ordinal()].increment();
  }

  private Timer timer(
      AtomicReferenceArray<@Nullable Timer> timers,
      Access access,
      Enum<?> end,
      String tag,
      String name,
      String description) {
    int place = end.ordinal() * ACCESSES + access.ordinal();
    Timer present = timers.get(place);
    if (present == null) {
      present =
          Timer.builder(name)
              .description(description)
              .publishPercentileHistogram(histograms)
              .tags("lock", lock, "mode", LockTags.text(access))
              .tags(tag, LockTags.text(end), "store", store)
              .register(registry);
      timers.set(place, present);
    }
    return present;
  }
}
