package io.mortise.torture.run;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;

/** A store's servers, with their faults. For one thread. */
final class StoreDeployment implements AutoCloseable {
  /** Receives the times in which the store cannot answer. */
  interface OutageListener {
    /** The store cannot answer from now on. */
    void begins();

    /** The store can answer again. */
    void ends();
  }

  /** A fault of servers, from its begin to its end. */
  interface ServerFault {
    /**
     * Injects and heals the fault. Blocks.
     *
     * @param time longer than the TTL
     */
    void happen(Duration time, OutageListener outageListener) throws InterruptedException;
  }

  private final String url;
  private final boolean behindRelays;
  private final Map<InjectedFault, ServerFault> serverFaults = new EnumMap<>(InjectedFault.class);
  private final Map<InjectedFault, String> lacking = new EnumMap<>(InjectedFault.class);
  private final Deque<AutoCloseable> open = new ArrayDeque<>();

  /**
   * @param behindRelays whether clients reach all servers by the addresses of the URL, so that
   *     proxies can be inserted
   */
  StoreDeployment(String url, boolean behindRelays) {
    this.url = url;
    this.behindRelays = behindRelays;
  }

  /** Registers a resource to be closed with the deployment, the last first. */
  StoreDeployment owns(AutoCloseable resource) {
    open.push(resource);
    return this;
  }

  StoreDeployment can(InjectedFault injectedFault, ServerFault serverFault) {
    serverFaults.put(injectedFault, serverFault);
    return this;
  }

  /** The same for an instantaneous fault. */
  StoreDeployment can(InjectedFault injectedFault, Runnable serverFault) {
    return can(injectedFault, (time, outageListener) -> serverFault.run());
  }

  /** Makes each fault added so far end only when {@code recovered} returns. */
  StoreDeployment eachUntil(Runnable recovered) {
    serverFaults.replaceAll(
        (injectedFault, serverFault) ->
            (time, outageListener) -> {
              serverFault.happen(time, outageListener);
              recovered.run();
            });
    return this;
  }

  /** Declares a fault as unavailable, with the reason. */
  StoreDeployment lacks(InjectedFault injectedFault, String why) {
    lacking.put(injectedFault, why);
    return this;
  }

  String url() {
    return url;
  }

  boolean isBehindRelays() {
    return behindRelays;
  }

  Set<InjectedFault> faults() {
    return Collections.unmodifiableSet(serverFaults.keySet());
  }

  Map<InjectedFault, String> lacking() {
    return Collections.unmodifiableMap(lacking);
  }

  void harm(InjectedFault injectedFault, Duration time, OutageListener outageListener)
      throws InterruptedException {
    ServerFault serverFault = serverFaults.get(injectedFault);
    if (serverFault == null) {
      throw new UnsupportedOperationException(
          "This store cannot have '" + injectedFault.label() + "'.");
    }
    serverFault.happen(time, outageListener);
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
