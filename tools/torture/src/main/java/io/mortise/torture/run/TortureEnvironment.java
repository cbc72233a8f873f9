package io.mortise.torture.run;

import io.mortise.testkit.server.FaultInjectionProxy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The store under torture, and what can be done to it and to its clients. For one thread. */
public final class TortureEnvironment implements AutoCloseable {
  /** The servers that a run can start. */
  public static final List<String> OWN = List.copyOf(StoreDeployments.all().keySet());

  /** Each host and port of a URL: behind slashes and credentials, or behind a comma. */
  private static final Pattern ADDRESS =
      Pattern.compile("(?<=//|@|,)([\\w.-]+):(\\d+)(?=[/,?;]|$)");

  private static final Set<InjectedFault> ON_PROCESSES =
      EnumSet.of(
          InjectedFault.PAUSE,
          InjectedFault.FULL_GC,
          InjectedFault.KILL,
          InjectedFault.KILL_WAITER,
          InjectedFault.KILL_CHAIN);
  private static final Set<InjectedFault> ON_NETWORK =
      EnumSet.of(
          InjectedFault.CUT_OFF,
          InjectedFault.HALF_OPEN,
          InjectedFault.SLOW,
          InjectedFault.LOST_REPLIES,
          InjectedFault.LOST_REQUESTS,
          InjectedFault.RESET);

  private final String name;
  private final StoreDeployment storeDeployment;

  private TortureEnvironment(String name, StoreDeployment storeDeployment) {
    this.name = name;
    this.storeDeployment = storeDeployment;
  }

  /**
   * Starts a server of the PATH, on a free port of the loopback.
   *
   * @param folder where an embedded store has its file
   * @param wanted what is to go wrong, as far as it can there
   * @return empty if the program is not installed
   * @throws IllegalArgumentException if it is none of {@link #OWN}
   */
  public static Optional<TortureEnvironment> start(
      String server, Path folder, Set<InjectedFault> wanted) {
    StoreDeployments.DeploymentStarter deploymentStarter = StoreDeployments.all().get(server);
    if (deploymentStarter == null) {
      throw new IllegalArgumentException("There is no server '" + server + "'.");
    }
    return deploymentStarter
        .start(folder, wanted)
        .map(storeDeployment -> new TortureEnvironment(server, storeDeployment));
  }

  /** The user's own store: nothing is done to its server. */
  public static TortureEnvironment of(String url) {
    // Servers that name further servers are reached past any relay.
    boolean behindRelays = !url.startsWith("redis-");
    return new TortureEnvironment(
        url.substring(0, url.indexOf(':')), new StoreDeployment(url, behindRelays));
  }

  /** What to call it. */
  public String name() {
    return name;
  }

  /** Its URL; may hold a password. */
  public String url() {
    return storeDeployment.url();
  }

  /** What can go wrong here. */
  public Set<InjectedFault> faults() {
    Set<InjectedFault> injectedFaults = EnumSet.copyOf(ON_PROCESSES);
    if (storeDeployment.isBehindRelays() && ADDRESS.matcher(url()).find()) {
      injectedFaults.addAll(ON_NETWORK);
    }
    injectedFaults.addAll(storeDeployment.faults());
    return injectedFaults;
  }

  /** What could go wrong with such a store, and cannot on this machine, and why. */
  public Map<InjectedFault, String> lacking() {
    return storeDeployment.lacking();
  }

  /** A client's ways to the servers, all of which can go wrong; empty if there are none. */
  List<FaultInjectionProxy> relays() {
    List<FaultInjectionProxy> faultInjectionProxies = new ArrayList<>();
    if (storeDeployment.isBehindRelays()) {
      Matcher address = ADDRESS.matcher(url());
      while (address.find()) {
        faultInjectionProxies.add(
            FaultInjectionProxy.to(address.group(1), Integer.parseInt(address.group(2))));
      }
    }
    return faultInjectionProxies;
  }

  /** The URL by way of relays, one for each address. */
  String url(List<FaultInjectionProxy> faultInjectionProxies) {
    int[] next = {0};
    return faultInjectionProxies.isEmpty()
        ? url()
        : ADDRESS
            .matcher(url())
            .replaceAll(address -> "127.0.0.1:" + faultInjectionProxies.get(next[0]++).port());
  }

  StoreDeployment site() {
    return storeDeployment;
  }

  @Override
  public void close() {
    storeDeployment.close();
  }
}
