package io.mortise.torture.run;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;

/** A store's servers, and what can be done to them. For one thread. */
final class Site implements AutoCloseable {
  /** Hears when nothing that is asked of the store can be answered. */
  interface Outage {
    /** From now on. */
    void begins();

    /** Until now. */
    void ends();
  }

  /** A fault of servers, from its beginning to its end. */
  interface Harm {
    /**
     * Does it. Blocks.
     *
     * @param time longer than the TTL
     */
    void happen(Duration time, Outage outage) throws InterruptedException;
  }

  private final String url;
  private final boolean behindRelays;
  private final Map<Fault, Harm> harms = new EnumMap<>(Fault.class);
  private final Map<Fault, String> lacking = new EnumMap<>(Fault.class);
  private final Deque<AutoCloseable> open = new ArrayDeque<>();

  /**
   * @param behindRelays whether clients reach all servers at the addresses of the URL, so that
   *     relays can stand before them
   */
  Site(String url, boolean behindRelays) {
    this.url = url;
    this.behindRelays = behindRelays;
  }

  /** Closed with the site, the last first. */
  Site owns(AutoCloseable resource) {
    open.push(resource);
    return this;
  }

  Site can(Fault fault, Harm harm) {
    harms.put(fault, harm);
    return this;
  }

  /** The same for what takes no time. */
  Site can(Fault fault, Runnable harm) {
    return can(fault, (time, outage) -> harm.run());
  }

  /** Each fault that it has so far is over when this returns. */
  Site eachUntil(Runnable recovered) {
    harms.replaceAll(
        (fault, harm) ->
            (time, outage) -> {
              harm.happen(time, outage);
              recovered.run();
            });
    return this;
  }

  /** It would have the fault, but for this. */
  Site lacks(Fault fault, String why) {
    lacking.put(fault, why);
    return this;
  }

  String url() {
    return url;
  }

  boolean isBehindRelays() {
    return behindRelays;
  }

  Set<Fault> faults() {
    return Collections.unmodifiableSet(harms.keySet());
  }

  Map<Fault, String> lacking() {
    return Collections.unmodifiableMap(lacking);
  }

  void harm(Fault fault, Duration time, Outage outage) throws InterruptedException {
    Harm harm = harms.get(fault);
    if (harm == null) {
      throw new UnsupportedOperationException("This store cannot have '" + fault.label() + "'.");
    }
    harm.happen(time, outage);
  }

  @Override
  public void close() {
    RuntimeException trouble = null;
    while (!open.isEmpty()) {
      try {
        open.pop().close();
      } catch (Exception e) {
        trouble = trouble == null ? new IllegalStateException("A server stays.", e) : trouble;
      }
    }
    if (trouble != null) {
      throw trouble;
    }
  }
}
