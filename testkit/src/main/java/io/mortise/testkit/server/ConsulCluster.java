package io.mortise.testkit.server;

import io.mortise.testkit.BoundedWait;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Three Consul servers that make a datacenter, each a process of its own, as {@link ConsulServer}
 * has it. A member elects another leader a second or two after it has heard nothing of the present
 * one. For one thread.
 */
public final class ConsulCluster implements AutoCloseable {
  private static final int MEMBERS = 3;
  private static final Duration ELECTION = Duration.ofSeconds(60);

  private final List<ConsulServer> members;

  /** The ports by which members know each other. */
  private final List<Integer> serverPorts;

  private ConsulCluster(List<ConsulServer> members, List<Integer> serverPorts) {
    this.members = members;
    this.serverPorts = serverPorts;
  }

  /**
   * Starts the cluster, and waits until it serves.
   *
   * @param program see {@link ConsulServer#installed()}
   * @throws IllegalStateException if it does not come up
   */
  public static ConsulCluster start(Path program) {
    List<Integer> serverPorts = ports();
    List<Integer> serfPorts = ports();
    // None of them serves before most are there.
    List<CompletableFuture<ConsulServer>> starting = new ArrayList<>();
    for (int i = 0; i < MEMBERS; i++) {
      ConsulServer.ServerPorts own =
          new ConsulServer.ServerPorts(serverPorts.get(i), serfPorts.get(i), serfPorts);
      starting.add(
          CompletableFuture.supplyAsync(
              () -> ConsulServer.start(program, own, List.of()),
              task -> new Thread(task, "mortise-consul-" + own.serf()).start()));
    }
    List<ConsulServer> members = new ArrayList<>();
    CompletionException failure = null;
    for (CompletableFuture<ConsulServer> start : starting) {
      try {
        members.add(start.join());
      } catch (CompletionException e) {
        failure = e;
      }
    }
    if (failure != null) {
      members.forEach(ConsulServer::close);
      throw new IllegalStateException("A member of the cluster did not start.", failure);
    }
    return new ConsulCluster(members, serverPorts);
  }

  private static List<Integer> ports() {
    return IntStream.range(0, MEMBERS).mapToObj(i -> ServerProcess.freePort()).toList();
  }

  /** How many members there are; they are numbered from 0. */
  public int size() {
    return members.size();
  }

  /** One member, to be killed, restarted, paused. */
  public ConsulServer member(int number) {
    return members.get(number);
  }

  /** {@code consul://} and the addresses of all members, this one first. */
  public String url(int first) {
    return IntStream.range(0, size())
        .mapToObj(i -> "127.0.0.1:" + member((first + i) % size()).port())
        .collect(Collectors.joining(",", "consul://", ""));
  }

  /** The member that leads. Waits until the given one, which must answer, knows one. */
  public int leader(int asked) {
    return awaitLeader(asked, -1);
  }

  /** Waits until the given member, which must answer, knows another leader than that one. */
  public int leaderAfter(int former, int asked) {
    return awaitLeader(asked, former);
  }

  private int awaitLeader(int asked, int former) {
    int[] found = {-1};
    BoundedWait.until(
        ELECTION,
        "a member led",
        () -> {
          found[0] = leaderBy(asked);
          return found[0] >= 0 && found[0] != former;
        });
    return found[0];
  }

  /** The leader that a member knows; less than 0 if it knows none. */
  private int leaderBy(int asked) {
    String answer = member(asked).send("GET", "/v1/status/leader", "");
    return IntStream.range(0, size())
        .filter(i -> answer.endsWith(":" + serverPorts.get(i) + "\""))
        .findFirst()
        .orElse(-1);
  }

  @Override
  public void close() {
    members.forEach(ConsulServer::close);
  }
}
