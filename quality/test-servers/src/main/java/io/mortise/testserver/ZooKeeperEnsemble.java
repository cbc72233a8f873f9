package io.mortise.testserver;

import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testkit.server.LocalServer;
import io.mortise.testkit.server.ServerProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/**
 * Three ZooKeeper servers that make an ensemble, each in its own process, as {@link
 * ZooKeeperServer} has it. The connections between followers and leader can be cut. For one thread.
 */
public final class ZooKeeperEnsemble implements AutoCloseable {
  private static final int MEMBERS = 3;
  private static final Duration ELECTION = Duration.ofSeconds(60);

  private final List<ZooKeeperServer> servers;

  /** For a pair of members i and j: the proxy by which i reaches j as its leader. */
  private final Map<List<Integer>, FaultInjectionProxy> faultInjectionProxies;

  private ZooKeeperEnsemble(
      List<ZooKeeperServer> servers,
      Map<List<Integer>, FaultInjectionProxy> faultInjectionProxies) {
    this.servers = List.copyOf(servers);
    this.faultInjectionProxies = faultInjectionProxies;
  }

  /**
   * Starts the ensemble and waits until it serves. Ticks are 100 ms; a follower is given up after
   * 20 of them.
   *
   * @throws IllegalStateException if it does not come up
   */
  public static ZooKeeperEnsemble start() {
    List<Integer> quorum = new ArrayList<>();
    List<Integer> election = new ArrayList<>();
    for (int i = 0; i < MEMBERS; i++) {
      quorum.add(ServerProcess.freePort());
      election.add(ServerProcess.freePort());
    }
    Map<List<Integer>, FaultInjectionProxy> faultInjectionProxies = new LinkedHashMap<>();
    List<Supplier<ZooKeeperServer>> starts = new ArrayList<>();
    for (int i = 0; i < MEMBERS; i++) {
      Map<String, String> settings = new LinkedHashMap<>();
      settings.put("tickTime", "100");
      settings.put("initLimit", "100");
      settings.put("syncLimit", "20");
      for (int j = 0; j < MEMBERS; j++) {
        int port = quorum.get(j);
        if (i != j) {
          FaultInjectionProxy faultInjectionProxy = FaultInjectionProxy.to(port);
          faultInjectionProxies.put(List.of(i, j), faultInjectionProxy);
          port = faultInjectionProxy.port();
        }
        settings.put("server." + (j + 1), "127.0.0.1:" + port + ":" + election.get(j));
      }
      ZooKeeperServer.Setup setup =
          ZooKeeperServer.Setup.member(i + 1, ServerProcess.freePort(), settings);
      starts.add(() -> ZooKeeperServer.start(setup));
    }
    ZooKeeperEnsemble ensemble;
    try {
      ensemble =
          new ZooKeeperEnsemble(LocalServer.LocalCluster.startAll(starts), faultInjectionProxies);
    } catch (RuntimeException | Error e) {
      faultInjectionProxies.values().forEach(FaultInjectionProxy::close);
      throw e;
    }
    try {
      ensemble.awaitWhole();
    } catch (RuntimeException | Error e) {
      ensemble.close();
      throw e;
    }
    return ensemble;
  }

  /** The number of members, which are numbered from 0. */
  public int size() {
    return servers.size();
  }

  /** Returns a member. */
  public ZooKeeperServer member(int number) {
    return servers.get(number);
  }

  /** The addresses of all members, as clients are given them. */
  public String address() {
    return address(0);
  }

  /** The addresses of all members, this one first. */
  public String address(int first) {
    List<String> all =
        IntStream.range(0, size())
            .mapToObj(i -> servers.get((first + i) % size()).address())
            .toList();
    return String.join(",", all);
  }

  /** The present leader, if any; a paused or cut off member may claim to lead, too. */
  public OptionalInt leader() {
    return IntStream.range(0, size()).filter(i -> is(i, "leader")).findFirst();
  }

  private boolean is(int member, String mode) {
    return servers.get(member).ask("srvr").contains("Mode: " + mode);
  }

  /** The leader, once the others follow. Waits for that: an election may be in progress. */
  public int leaderWhenWhole() {
    while (true) {
      awaitWhole();
      OptionalInt leader = leader();
      if (leader.isPresent()) {
        return leader.getAsInt();
      }
    }
  }

  /** Waits for a follower and returns it. */
  public int follower() {
    awaitWhole();
    return IntStream.range(0, size())
        .filter(i -> is(i, "follower"))
        .findFirst()
        .orElseGet(this::follower);
  }

  /** Waits until one member leads and all others follow. */
  public void awaitWhole() {
    BoundedWait.until(
        ELECTION,
        "one member led and the others followed",
        () ->
            leader().isPresent()
                && IntStream.range(0, size()).filter(i -> is(i, "follower")).count() == size() - 1);
  }

  /** Waits until one member leads. */
  public void awaitLeader() {
    BoundedWait.until(ELECTION, "one member led", () -> leader().isPresent());
  }

  /**
   * Cuts or restores the connections between a member and its followers or its leader. Clients
   * still reach it.
   */
  public void cutOff(int member, boolean cut) {
    faultInjectionProxies.forEach(
        (ends, faultInjectionProxy) -> {
          if (ends.contains(member)) {
            faultInjectionProxy.condition(
                cut
                    ? FaultInjectionProxy.NetworkCondition.FROZEN
                    : FaultInjectionProxy.NetworkCondition.FAIR);
          }
        });
  }

  @Override
  public void close() {
    servers.forEach(ZooKeeperServer::close);
    faultInjectionProxies.values().forEach(FaultInjectionProxy::close);
  }
}
