package io.mortise.torture.run;

import io.mortise.testkit.server.Relay;
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
public final class Arena implements AutoCloseable {
  /** The servers that a run can start. */
  public static final List<String> OWN = List.copyOf(Sites.all().keySet());

  /** Each host and port of a URL: behind slashes and credentials, or behind a comma. */
  private static final Pattern ADDRESS =
      Pattern.compile("(?<=//|@|,)([\\w.-]+):(\\d+)(?=[/,?;]|$)");

  private static final Set<Fault> ON_PROCESSES =
      EnumSet.of(Fault.PAUSE, Fault.FULL_GC, Fault.KILL, Fault.KILL_WAITER, Fault.KILL_CHAIN);
  private static final Set<Fault> ON_NETWORK =
      EnumSet.of(
          Fault.CUT_OFF,
          Fault.HALF_OPEN,
          Fault.SLOW,
          Fault.LOST_REPLIES,
          Fault.LOST_REQUESTS,
          Fault.RESET);

  private final String name;
  private final Site site;

  private Arena(String name, Site site) {
    this.name = name;
    this.site = site;
  }

  /**
   * Starts a server of the PATH, on a free port of the loopback.
   *
   * @param folder where an embedded store has its file
   * @param wanted what is to go wrong, as far as it can there
   * @return empty if the program is not installed
   * @throws IllegalArgumentException if it is none of {@link #OWN}
   */
  public static Optional<Arena> start(String server, Path folder, Set<Fault> wanted) {
    Sites.Start start = Sites.all().get(server);
    if (start == null) {
      throw new IllegalArgumentException("There is no server '" + server + "'.");
    }
    return start.start(folder, wanted).map(site -> new Arena(server, site));
  }

  /** The user's own store: nothing is done to its server. */
  public static Arena of(String url) {
    // Servers that name further servers are reached past any relay.
    boolean behindRelays = !url.startsWith("redis-");
    return new Arena(url.substring(0, url.indexOf(':')), new Site(url, behindRelays));
  }

  /** What to call it. */
  public String name() {
    return name;
  }

  /** Its URL; may hold a password. */
  public String url() {
    return site.url();
  }

  /** What can go wrong here. */
  public Set<Fault> faults() {
    Set<Fault> faults = EnumSet.copyOf(ON_PROCESSES);
    if (site.isBehindRelays() && ADDRESS.matcher(url()).find()) {
      faults.addAll(ON_NETWORK);
    }
    faults.addAll(site.faults());
    return faults;
  }

  /** What could go wrong with such a store, and cannot on this machine, and why. */
  public Map<Fault, String> lacking() {
    return site.lacking();
  }

  /** A client's ways to the servers, all of which can go wrong; empty if there are none. */
  List<Relay> relays() {
    List<Relay> relays = new ArrayList<>();
    if (site.isBehindRelays()) {
      Matcher address = ADDRESS.matcher(url());
      while (address.find()) {
        relays.add(Relay.to(address.group(1), Integer.parseInt(address.group(2))));
      }
    }
    return relays;
  }

  /** The URL by way of relays, one for each address. */
  String url(List<Relay> relays) {
    int[] next = {0};
    return relays.isEmpty()
        ? url()
        : ADDRESS.matcher(url()).replaceAll(address -> "127.0.0.1:" + relays.get(next[0]++).port());
  }

  Site site() {
    return site;
  }

  @Override
  public void close() {
    site.close();
  }
}
