package io.mortise.testserver;

import io.mortise.testkit.BoundedWait;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A Redis Cluster of some masters with a replica each, every node in its own process on the
 * loopback. Ended by {@link #close()}. For one thread.
 */
public final class RedisCluster implements AutoCloseable {
  /** The number of slots of every cluster. */
  public static final int SLOTS = 16_384;

  private static final int BUS = 10_000;
  private static final Duration PATIENCE = Duration.ofSeconds(90);

  private final List<RedisServer> nodes = new ArrayList<>();
  private final int masters;
  private final @Nullable RedisSecurity access;

  private RedisCluster(int masters, @Nullable RedisSecurity access) {
    this.masters = masters;
    this.access = access;
  }

  /**
   * Starts a cluster, and waits until every node reports it complete. The first nodes are the
   * masters, with equal shares of the slots; their replicas follow in the same order.
   *
   * @param binary {@code redis-server}
   * @param nodeTimeout the time after which a silent node counts as dead
   */
  public static RedisCluster start(
      Path binary, int masters, boolean replicas, Duration nodeTimeout) {
    return start(binary, masters, replicas, nodeTimeout, null);
  }

  /** The same, where all nodes speak TLS, and ask for a password. */
  public static RedisCluster start(
      Path binary,
      int masters,
      boolean replicas,
      Duration nodeTimeout,
      @Nullable RedisSecurity access) {
    RedisCluster cluster = new RedisCluster(masters, access);
    try {
      for (int i = 0; i < (replicas ? 2 * masters : masters); i++) {
        cluster.nodes.add(
            RedisServer.start(
                binary,
                access,
                BUS,
                "--cluster-require-full-coverage",
                "no",
                "--cluster-enabled",
                "yes",
                "--cluster-node-timeout",
                Long.toString(nodeTimeout.toMillis()),
                "--repl-diskless-sync-delay",
                "0"));
      }
      cluster.join();
      return cluster;
    } catch (RuntimeException | Error e) {
      cluster.close();
      throw e;
    }
  }

  private void join() {
    for (int i = 0; i < nodes.size(); i++) {
      nodes.get(i).ask("CLUSTER", "SET-CONFIG-EPOCH", Integer.toString(i + 1));
      if (i > 0) {
        nodes
            .get(0)
            .ask("CLUSTER", "MEET", "127.0.0.1", Integer.toString(nodes.get(i).portOfOthers()));
      }
    }
    for (int i = 0; i < masters; i++) {
      List<String> words = new ArrayList<>(List.of("CLUSTER", "ADDSLOTS"));
      IntStream.range(SLOTS * i / masters, SLOTS * (i + 1) / masters)
          .mapToObj(Integer::toString)
          .forEach(words::add);
      nodes.get(i).ask(words.toArray(String[]::new));
    }
    awaitWhole();
    for (int i = masters; i < nodes.size(); i++) {
      RedisServer replica = nodes.get(i);
      String master = id(nodes.get(i - masters));
      BoundedWait.until(
          PATIENCE,
          "the replica knew its master",
          () -> replica.ask("CLUSTER", "NODES").get(0).contains(master));
      replica.ask("CLUSTER", "REPLICATE", master);
    }
    BoundedWait.until(
        PATIENCE,
        "the replicas were in sync",
        () ->
            nodes.stream()
                .skip(masters)
                .allMatch(replica -> replica.says("master_link_status", "up")));
    awaitWhole();
  }

  /** Waits until every node that runs finds all slots served and knows all nodes. */
  public void awaitWhole() {
    BoundedWait.until(
        PATIENCE,
        "the cluster was whole",
        () ->
            nodes.stream()
                .filter(RedisServer::isRunning)
                .allMatch(
                    node -> {
                      String info = node.ask("CLUSTER", "INFO").get(0);
                      return info.contains("cluster_state:ok")
                          && info.contains("cluster_known_nodes:" + nodes.size());
                    }));
  }

  private static String id(RedisServer node) {
    return node.ask("CLUSTER", "MYID").get(0);
  }

  /** All nodes; the masters at the start come first. */
  public List<RedisServer> nodes() {
    return List.copyOf(nodes);
  }

  /**
   * {@code redis-cluster://127.0.0.1:port,…} with the nodes that were masters at the start; without
   * the password, if they have one.
   */
  public String url() {
    return (access == null ? "redis" : "rediss")
        + "-cluster://"
        + String.join(
            ",",
            nodes.stream().limit(masters).map(node -> "127.0.0.1:" + node.portOfOthers()).toList());
  }

  /** The slot of a key. */
  public int slotOf(String key) {
    return Integer.parseInt(nodes.get(0).ask("CLUSTER", "KEYSLOT", key).get(0));
  }

  /** The node that serves the slot, according to the running nodes. */
  public RedisServer masterOf(int slot) {
    RedisServer asked = nodes.stream().filter(RedisServer::isRunning).findFirst().orElseThrow();
    for (String line : asked.ask("CLUSTER", "NODES").get(0).split("\n", -1)) {
      String[] words = line.split(" ", -1);
      boolean serves =
          words.length > 8
              && words[2].contains("master")
              && !words[2].contains("fail")
              && Arrays.stream(words).skip(8).anyMatch(range -> holds(range, slot));
      if (serves) {
        int port = Integer.parseInt(words[1].replaceAll(".*:(\\d+)@.*", "$1"));
        return nodes.stream().filter(node -> node.port() == port).findFirst().orElseThrow();
      }
    }
    throw new IllegalStateException("No node serves slot " + slot + ".");
  }

  private static boolean holds(String range, int slot) {
    if (range.startsWith("[")) {
      return false;
    }
    String[] ends = range.split("-", -1);
    return Integer.parseInt(ends[0]) <= slot && slot <= Integer.parseInt(ends[ends.length - 1]);
  }

  /** Moves a slot with its keys, some at a time, as a resharding does. */
  public void moveSlot(int slot, RedisServer to) {
    RedisServer from = masterOf(slot);
    String number = Integer.toString(slot);
    to.ask("CLUSTER", "SETSLOT", number, "IMPORTING", id(from));
    from.ask("CLUSTER", "SETSLOT", number, "MIGRATING", id(to));
    while (true) {
      List<String> keys = from.ask("CLUSTER", "GETKEYSINSLOT", number, "10");
      if (keys.isEmpty()) {
        break;
      }
      List<String> words =
          new ArrayList<>(
              List.of(
                  "MIGRATE", "127.0.0.1", Integer.toString(to.portOfOthers()), "", "0", "20000"));
      if (access != null) {
        words.addAll(List.of("AUTH", access.password()));
      }
      words.add("KEYS");
      words.addAll(keys);
      from.ask(words.toArray(String[]::new));
    }
    // The new owner first, so that there is always one.
    to.ask("CLUSTER", "SETSLOT", number, "NODE", id(to));
    from.ask("CLUSTER", "SETSLOT", number, "NODE", id(to));
  }

  @Override
  public void close() {
    nodes.forEach(RedisServer::close);
  }
}
