package io.mortise.micrometer;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.mortise.LeaseLostException;
import io.mortise.LockException;
import io.mortise.annotation.Beta;
import io.mortise.event.LockListener;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Observations of locks in an {@link ObservationRegistry}, which tracing turns into spans. Build a
 * lock client with it:
 *
 * <pre>{@code
 * LockClient.builder().url(url).listener(LockObservations.of(registry)).build();
 * }</pre>
 *
 * <p><b>Observations.</b> Each acquire is an observation {@code mortise.lock.acquire}, and each
 * lease one of {@code mortise.lock.hold}. The parent of both is the observation that is current on
 * the thread that acquires. Neither becomes current: observations of the work under a lock are
 * siblings of its hold. An acquire that the store did not answer or refused has an error, as has a
 * hold that ended by a loss. An acquire that found the lock busy has none.
 *
 * <p><b>Keys.</b> The low-cardinality key {@code lock} has the values of the tag of {@link
 * LockMetrics}. The lock's name is the high-cardinality key {@code lock.name}, the fencing token
 * {@code token}.
 *
 * <p><b>Cost.</b> While the registry has no handler, each event costs a comparison or a lookup. An
 * observation that a predicate of the registry refuses costs nothing further.
 *
 * <p>One object may serve several clients. Thread-safe; no method blocks, unless a handler does.
 */
@Beta
public final class LockObservations implements LockListener {
  private final ObservationRegistry registry;
  private final LockTags tags;

  /** Acquires and leases that have not ended, by the id of the call. */
  private final Map<Long, Observation> live = new ConcurrentHashMap<>();

  private LockObservations(ObservationRegistry registry, Function<String, String> lockTag) {
    this.registry = Objects.requireNonNull(registry, "registry");
    this.tags = new LockTags(Objects.requireNonNull(lockTag, "lockTag"), LockTags.DEFAULT_MOST);
  }

  /** Observations in this registry. */
  public static LockObservations of(ObservationRegistry registry) {
    return of(registry, LockTags::withoutIds);
  }

  /**
   * Observations in this registry.
   *
   * @param lockTag derives a value of key {@code lock} from a lock's name; it is called on threads
   *     that acquire, and must neither block nor throw. After 100 values, further ones are {@code
   *     other}
   */
  public static LockObservations of(
      ObservationRegistry registry, Function<String, String> lockTag) {
    return new LockObservations(registry, lockTag);
  }

  @Override
  public void onAcquireStarted(AcquireStarted event) {
    if (registry.isNoop()) {
      return;
    }
    Observation acquire = observation("acquire", event.call());
    if (!acquire.isNoop()) {
      live.put(event.call().id(), acquire.start());
    }
  }

  private Observation observation(String what, AcquireCall call) {
    Observation made = Observation.createNotStarted("mortise.lock." + what, registry);
    if (made.isNoop()) {
      return made;
    }
    String lock = tags.tag(call.lock());
    return made.contextualName(what + " " + lock)
        .lowCardinalityKeyValue("lock", lock)
        .lowCardinalityKeyValue("mode", LockTags.text(call.access()))
        .lowCardinalityKeyValue("store", call.store())
        .highCardinalityKeyValue("lock.name", call.lock());
  }

  @Override
  public void onAcquireEnded(AcquireEnded event) {
    AcquireCall call = event.call();
    @Nullable Observation acquire = live.remove(call.id());
    if (acquire == null) {
      return;
    }
    acquire.lowCardinalityKeyValue("outcome", LockTags.text(event.outcome()));
    switch (event.outcome()) {
      case GRANTED -> {
        addToken(acquire, event.token());
        Observation hold = observation("hold", call);
        if (!hold.isNoop()) {
          addToken(hold, event.token());
          // The end of an asynchronous acquire is reported on another thread.
          hold.getContext().setParentObservation(acquire.getContextView().getParentObservation());
          live.put(call.id(), hold.start());
        }
      }
      case UNAVAILABLE, REFUSED -> acquire.error(new LockException(event.reason()));
      case BUSY, TIMEOUT, QUEUE_FULL, INTERRUPTED, CANCELLED -> {}
    }
    acquire.stop();
  }

  private static void addToken(Observation observation, OptionalLong token) {
    if (token.isPresent()) {
      observation.highCardinalityKeyValue("token", Long.toString(token.getAsLong()));
    }
  }

  @Override
  public void onLeaseEnded(LeaseEnded event) {
    @Nullable Observation hold = live.remove(event.call().id());
    if (hold == null) {
      return;
    }
    hold.lowCardinalityKeyValue("end", LockTags.text(event.end()));
    if (event.end().isLoss()) {
      hold.error(new LeaseLostException(event.reason(), event.end()));
    }
    hold.stop();
  }
}
