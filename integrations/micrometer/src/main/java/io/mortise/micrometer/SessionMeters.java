package io.mortise.micrometer;

import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.TimeGauge;
import io.mortise.event.LockListener.LockSession;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;

/**
 * The remaining validity of the sessions of one client with one store. A partitioned store has
 * several sessions: the gauges show the one that ends first. Thread-safe.
 */
final class SessionMeters {
  private final Clock clock;
  private final Map<String, SessionTerm> sessions = new ConcurrentHashMap<>();
  private final List<Meter> gauges = new ArrayList<>();

  /** The latest reported end of a session's validity, and the duration of its renewal. */
  private record SessionTerm(long until, long ttl) {}

  SessionMeters(MeterRegistry registry, LockSession session) {
    this.clock = registry.config().clock();
    // Some registries take no empty values.
    String client = session.client().isEmpty() ? "none" : session.client();
    Tags tags = Tags.of("store", session.store(), "client", client);
    gauges.add(
        gauge(
            registry,
            "mortise.session.remaining",
            "How long the session stays valid if it is not renewed again",
            tags,
            SessionMeters::remaining));
    gauges.add(
        gauge(
            registry,
            "mortise.session.ttl",
            "For how long the session was last renewed",
            tags,
            SessionMeters::ttl));
  }

  private TimeGauge gauge(
      MeterRegistry registry,
      String name,
      String description,
      Tags tags,
      ToDoubleFunction<SessionMeters> value) {
    return TimeGauge.builder(name, this, TimeUnit.NANOSECONDS, value)
        .description(description)
        .tags(tags)
        .register(registry);
  }

  void set(String session, Duration remaining, Duration ttl) {
    sessions.put(
        session, new SessionTerm(clock.monotonicTime() + remaining.toNanos(), ttl.toNanos()));
  }

  /** Records the duration of the session's last renewal. */
  void set(String session, Duration remaining) {
    sessions.computeIfPresent(
        session,
        (id, term) -> new SessionTerm(clock.monotonicTime() + remaining.toNanos(), term.ttl()));
  }

  /** Returns whether no session is left. */
  boolean remove(String session) {
    sessions.remove(session);
    return sessions.isEmpty();
  }

  void removeFrom(MeterRegistry registry) {
    gauges.forEach(registry::remove);
  }

  private double remaining() {
    long now = clock.monotonicTime();
    return sessions.values().stream()
        .mapToLong(term -> Math.max(0, term.until() - now))
        .min()
        .stream()
        .asDoubleStream()
        .findFirst()
        .orElse(Double.NaN);
  }

  private double ttl() {
    long now = clock.monotonicTime();
    return sessions.values().stream()
        .min((a, b) -> Long.compare(a.until() - now, b.until() - now))
        .map(term -> (double) term.ttl())
        .orElse(Double.NaN);
  }
}
