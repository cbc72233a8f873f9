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

/** The store under torture, with the faults of its servers and clients. For one thread. */
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
   * Starts a server from the PATH, on a free loopback port.
   *
   * @param folder for the file of an embedded store
   * @param wanted the wanted faults, used as far as supported
   * @return empty if the program is not installed
   * @throws IllegalArgumentException if it is not in {@link #OWN}
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

  /** The user's own store, whose server gets no faults. */
  public static TortureEnvironment of(String url) {
    // Clients reach servers named by other servers without a proxy.
    boolean behindRelays = !url.startsWith("redis-");
    return new TortureEnvironment(
        url.substring(0, url.indexOf(':')), new StoreDeployment(url, behindRelays));
  }

  /** Its name. */
  public String name() {
    return name;
  }

  /** Its URL; may hold a password. */
  public String url() {
    return storeDeployment.url();
  }

  /** The available faults. */
  public Set<InjectedFault> faults() {
    Set<InjectedFault> injectedFaults = EnumSet.copyOf(ON_PROCESSES);
    if (storeDeployment.isBehindRelays() && ADDRESS.matcher(url()).find()) {
      injectedFaults.addAll(ON_NETWORK);
    }
    injectedFaults.addAll(storeDeployment.faults());
    return injectedFaults;
  }

  /** Faults of such a store that are unavailable on this machine, with the reasons. */
  public Map<InjectedFault, String> lacking() {
    return storeDeployment.lacking();
  }

  /** A client's proxies to the servers; empty if there are none. */
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

  /** The URL through proxies, one for each address. */
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
