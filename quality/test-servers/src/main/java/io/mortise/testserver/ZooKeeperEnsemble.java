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
 * Three ZooKeeper servers that make an ensemble, each a process of its own, as {@link
 * ZooKeeperServer} has it. The lines by which followers follow their leader can be cut. For one
 * thread.
 */
public final class ZooKeeperEnsemble implements AutoCloseable {
  private static final int MEMBERS = 3;
  private static final Duration ELECTION = Duration.ofSeconds(60);

  private final List<ZooKeeperServer> servers;

  /** {@code relays[i][j]}: by what member i reaches member j as its leader; none to itself. */
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

  /** How many members there are; they are numbered from 0. */
  public int size() {
    return servers.size();
  }

  /** One member, to be killed, restarted, stopped. */
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

  /** The member that leads now, if one does; a member that is stopped or cut off may say so too. */
  public OptionalInt leader() {
    return IntStream.range(0, size()).filter(i -> is(i, "leader")).findFirst();
  }

  private boolean is(int member, String mode) {
    return servers.get(member).ask("srvr").contains("Mode: " + mode);
  }

  /** The member that leads once the others follow. Waits for that: they may just elect anew. */
  public int leaderWhenWhole() {
    while (true) {
      awaitWhole();
      OptionalInt leader = leader();
      if (leader.isPresent()) {
        return leader.getAsInt();
      }
    }
  }

  /** Some member that follows; waits until one does. */
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
   * Cuts the lines between a member and those who follow it or whom it follows, or mends them.
   * Clients go on reaching it.
   */
  public void cutOff(int member, boolean cut) {
    faultInjectionProxies.forEach(
        (ends, faultInjectionProxy) -> {
          if (ends.contains(member)) {
            faultInjectionProxy.weather(
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
