package io.mortise.testkit.server;

import io.mortise.testkit.BoundedWait;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Three etcd servers that make a cluster, each a process of its own, as {@link EtcdServer} has it.
 * A member elects another leader about a second after it has heard nothing of the present one. For
 * one thread.
 */
public final class EtcdCluster implements AutoCloseable {
  private static final int MEMBERS = 3;
  private static final Duration ELECTION = Duration.ofSeconds(60);
  private static final Pattern ME = Pattern.compile("\"member_id\":\"(\\d+)\"");
  private static final Pattern LEADER = Pattern.compile("\"leader\":\"(\\d+)\"");

  private final List<EtcdServer> members;

  /** By what etcd calls them. */
  private final List<String> ids;

  private EtcdCluster(List<EtcdServer> members, List<String> ids) {
    this.members = members;
    this.ids = ids;
  }

  /**
   * Starts the cluster, and waits until it serves.
   *
   * @param program see {@link EtcdServer#installed()}
   * @param arguments more of them for each member, in the program's own form
   * @throws IllegalStateException if it does not come up
   */
  public static EtcdCluster start(Path program, String... arguments) {
    List<String> peers =
        IntStream.range(0, MEMBERS)
            .mapToObj(i -> "http://127.0.0.1:" + ServerProcess.freePort())
            .toList();
    String cluster =
        IntStream.range(0, MEMBERS)
            .mapToObj(i -> "member" + i + "=" + peers.get(i))
            .collect(Collectors.joining(","));
    // None of them serves before most are there.
    List<CompletableFuture<EtcdServer>> starting = new ArrayList<>();
    for (int i = 0; i < MEMBERS; i++) {
      EtcdServer.ClusterMember member =
          new EtcdServer.ClusterMember("member" + i, peers.get(i), cluster);
      starting.add(
          CompletableFuture.supplyAsync(
              () -> EtcdServer.start(program, member, List.of(arguments)),
              task -> new Thread(task, "mortise-" + member.name()).start()));
    }
    List<EtcdServer> members = new ArrayList<>();
    CompletionException failure = null;
    for (CompletableFuture<EtcdServer> start : starting) {
      try {
        members.add(start.join());
      } catch (CompletionException e) {
        failure = e;
      }
    }
    if (failure != null) {
      members.forEach(EtcdServer::close);
      throw new IllegalStateException("A member of the cluster did not start.", failure);
    }
    return new EtcdCluster(members, members.stream().map(member -> id(member, ME)).toList());
  }

  /** How many members there are; they are numbered from 0. */
  public int size() {
    return members.size();
  }

  /** One member, to be killed, restarted, paused. */
  public EtcdServer member(int number) {
    return members.get(number);
  }

  /** {@code etcd://} and the addresses of all members, this one first. */
  public String url(int first) {
    return IntStream.range(0, size())
        .mapToObj(i -> "127.0.0.1:" + member((first + i) % size()).port())
        .collect(Collectors.joining(",", "etcd://", ""));
  }

  /** The member that leads. Waits until the given one, which must answer, knows one. */
  public int leader(int asked) {
    int[] found = {-1};
    BoundedWait.until(
        ELECTION,
        "a member led",
        () -> {
          found[0] = leaderBy(asked);
          return found[0] >= 0;
        });
    return found[0];
  }

  /** Waits until the given member, which must answer, knows another leader than that one. */
  public int leaderAfter(int former, int asked) {
    int[] found = {-1};
    BoundedWait.until(
        ELECTION,
        "another member led",
        () -> {
          found[0] = leaderBy(asked);
          return found[0] >= 0 && found[0] != former;
        });
    return found[0];
  }

  /** The leader that a member knows; less than 0 if it knows none. */
  private int leaderBy(int asked) {
    return ids.indexOf(id(member(asked), LEADER));
  }

  private static String id(EtcdServer member, Pattern which) {
    Matcher found = which.matcher(member.post("/v3/maintenance/status", "{}"));
    return found.find() ? found.group(1) : "";
  }

  @Override
  public void close() {
    members.forEach(EtcdServer::close);
  }
}
