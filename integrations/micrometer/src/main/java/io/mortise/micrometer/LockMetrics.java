package io.mortise.micrometer;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.LongTaskTimer;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.mortise.StaleTokenException;
import io.mortise.annotation.Beta;
import io.mortise.event.LockListener;
import io.mortise.spi.LockStore;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Meters of locks in a {@link MeterRegistry}. Build a lock client with it:
 *
 * <pre>{@code
 * LockClient.builder().url(url).listener(LockMetrics.of(registry)).build();
 * }</pre>
 *
 * <p><b>Tags.</b> Lock names are unbounded, so they never are tags themselves. By default each part
 * of a name that holds a digit becomes {@code *}: {@code invoice/42} counts as {@code invoice/*}.
 * After 100 values of tag {@code lock} every further name counts as {@code other}, and that is
 * logged once. All other tags have a fixed set of values, or one for each client.
 *
 * <p><b>Removal.</b> The gauges of a client's sessions are removed with the last session: when it
 * is lost, or the client is closed. They return with the next session. All other meters last as
 * long as the registry.
 *
 * <p>One object may serve several clients. Thread-safe; only {@link #examine} blocks.
 */
@Beta
public final class LockMetrics implements LockListener {
  private final MeterRegistry registry;
  private final LockTags tags;
  private final boolean histograms;
  private final Map<MeterKey, LockMeters> meters = new ConcurrentHashMap<>();

  /** Acquires and leases that have not ended, by the id of the call. */
  private final Map<Long, LiveCall> live = new ConcurrentHashMap<>();

  private final Map<SessionKey, SessionMeters> sessions = new ConcurrentHashMap<>();
  private final ReentrantLock sessionGuard = new ReentrantLock();

  private record MeterKey(String lock, String store) {}

  private record SessionKey(String store, String client) {}

  /** A call with the sample of its wait or hold. */
  private record LiveCall(LockMeters meters, LongTaskTimer.Sample sample) {}

  private LockMetrics(Builder builder) {
    this.registry = builder.registry;
    this.tags = new LockTags(builder.lockTag, builder.maxLockTags);
    this.histograms = builder.histograms;
  }

  /** Meters in this registry, with the defaults of {@link #builder}. */
  public static LockMetrics of(MeterRegistry registry) {
    return builder(registry).build();
  }

  /** For meters in this registry, with settings of your own. */
  public static Builder builder(MeterRegistry registry) {
    return new Builder(registry);
  }

  /** Makes {@link LockMetrics}. Not thread-safe. */
  @Beta
  public static final class Builder {
    private final MeterRegistry registry;
    private Function<String, String> lockTag = LockTags::withoutIds;
    private int maxLockTags = LockTags.DEFAULT_MOST;
    private boolean histograms;

    private Builder(MeterRegistry registry) {
      this.registry = Objects.requireNonNull(registry, "registry");
    }

    /**
     * Derives a value of tag {@code lock} from a lock's name. The function is called on threads
     * that acquire, and must neither block nor throw.
     */
    public Builder lockTag(Function<String, String> template) {
      this.lockTag = Objects.requireNonNull(template, "template");
      return this;
    }

    /**
     * How many values tag {@code lock} may have before further ones become {@code other}. Default
     * 100.
     *
     * @throws IllegalArgumentException if it is below 1
     */
    public Builder maxLockTags(int count) {
      if (count < 1) {
        throw new IllegalArgumentException(
            "Tag 'lock' needs room for one value at least, not " + count + ".");
      }
      this.maxLockTags = count;
      return this;
    }

    /**
     * Publishes histograms of waits and holds, for percentiles over several processes. Each timer
     * then has about 70 time series instead of three.
     */
    public Builder withHistograms() {
      this.histograms = true;
      return this;
    }

    /** The listener. */
    public LockMetrics build() {
      return new LockMetrics(this);
    }
  }

  /**
   * Counts a fencing token that a guard refused. Call it where the exception is caught: guards know
   * no client, so no listener is notified.
   */
  public void fenceRefused(StaleTokenException refusal) {
    Counter.builder("mortise.fence.refused")
        .description("Fencing tokens that a guard refused")
        .tags(
            "lock",
            tags.tag(refusal.refused().lock()),
            "twice",
            Boolean.toString(refusal.isGrantedTwice()))
        .register(registry)
        .increment();
  }

  /**
   * Grades the settings of a store's server for locks, as {@code mortise doctor} does: one gauge
   * for each setting. Blocks for the first answer, ten seconds at most. Later reads of the gauges
   * query the store, once a minute at most, without waiting. The gauges are NaN while it does not
   * answer.
   *
   * @param store the client's store, or another of the same URL; the caller closes it
   * @throws io.mortise.StoreUnavailableException if the store does not answer
   */
  public void examine(LockStore store) {
    StoreMeters unused = new StoreMeters(registry, store);
  }

  @Override
  public void onAcquireStarted(AcquireStarted event) {
    AcquireCall call = event.call();
    LockMeters own = meters(call);
    live.put(call.id(), new LiveCall(own, own.waiting.start()));
  }

  private LockMeters meters(AcquireCall call) {
    MeterKey key = new MeterKey(tags.tag(call.lock()), call.store());
    LockMeters present = meters.get(key);
    return present != null
        ? present
        : meters.computeIfAbsent(
            key, absent -> new LockMeters(registry, absent.lock(), absent.store(), histograms));
  }

  @Override
  public void onAcquireEnded(AcquireEnded event) {
    AcquireCall call = event.call();
    boolean granted = event.outcome() == AcquireOutcome.GRANTED;
    LiveCall waiting = live.remove(call.id());
    LockMeters own = waiting == null ? meters(call) : waiting.meters();
    if (waiting != null) {
      waiting.sample().stop();
    }
    own.acquire(call.access(), event.outcome()).record(event.waited());
    if (granted) {
      live.put(call.id(), new LiveCall(own, own.holding.start()));
    }
  }

  @Override
  public void onLeaseEnded(LeaseEnded event) {
    AcquireCall call = event.call();
    LiveCall holding = live.remove(call.id());
    LockMeters own = holding == null ? meters(call) : holding.meters();
    if (holding != null) {
      holding.sample().stop();
    }
    own.hold(call.access(), event.end()).record(event.held());
    if (event.end().isLoss()) {
      own.lost(event.end());
    }
  }

  @Override
  public void onSessionRenewed(SessionRenewed event) {
    renewals(event.session(), event.outcome()).record(event.took());
    if (event.outcome() == RenewalOutcome.RENEWED) {
      SessionMeters own = sessions.get(key(event.session()));
      if (own != null) {
        own.set(event.session().id(), event.remaining(), event.ttl());
      }
    }
  }

  private Timer renewals(LockSession session, RenewalOutcome outcome) {
    return Timer.builder("mortise.renewal")
        .description("From a renewal of a session to its answer or failure")
        .tags("outcome", LockTags.text(outcome), "store", session.store())
        .register(registry);
  }

  @Override
  public void onSessionChanged(SessionChanged event) {
    LockSession session = event.session();
    switch (event.state()) {
      case OPENED -> opened(event);
      case LOST, CLOSED -> ended(session);
      case UNANSWERED, ANSWERED, IN_DOUBT -> {
        SessionMeters own = sessions.get(key(session));
        if (own != null) {
          own.set(session.id(), event.remaining());
        }
      }
    }
  }

  private static SessionKey key(LockSession session) {
    return new SessionKey(session.store(), session.client());
  }

  private void opened(SessionChanged event) {
    LockSession session = event.session();
    for (RenewalOutcome outcome : RenewalOutcome.values()) {
      // Registered at zero, so that the first failure is a rise.
      Timer unused = renewals(session, outcome);
    }
    sessionGuard.lock();
    try {
      sessions
          .computeIfAbsent(key(session), absent -> new SessionMeters(registry, session))
          .set(session.id(), event.remaining(), session.ttl());
    } finally {
      sessionGuard.unlock();
    }
  }

  private void ended(LockSession session) {
    sessionGuard.lock();
    try {
      @Nullable SessionMeters own = sessions.get(key(session));
      if (own != null && own.remove(session.id())) {
        sessions.remove(key(session));
        own.removeFrom(registry);
      }
    } finally {
      sessionGuard.unlock();
    }
  }
}
