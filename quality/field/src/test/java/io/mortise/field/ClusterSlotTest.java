package io.mortise.field;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.StoreUnavailableException;
import io.mortise.redis.cluster.HashSlots;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.TestPrerequisites;
import io.mortise.testserver.RedisCluster;
import io.mortise.testserver.RedisServer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Slots of a Redis Cluster that are migrating or unserved. */
@Tag("extended")
class ClusterSlotTest {
  private static final int BUCKETS = 8;

  private static RedisCluster cluster;

  @BeforeAll
  static void startCluster() {
    cluster =
        RedisCluster.start(
            TestPrerequisites.required(
                RedisServer.bundled().or(() -> RedisServer.installed(6)), "Redis"),
            3,
            false,
            Duration.ofSeconds(1));
  }

  @AfterAll
  static void closeCluster() {
    cluster.close();
  }

  private static LockClient client() {
    return LockClient.connect(cluster.url() + "?timeout=5s&buckets=" + BUCKETS);
  }

  private static int slot(int bucket) {
    return HashSlots.of("m:mortise:{b%02d}:".formatted(bucket));
  }

  private static String name(int bucket) {
    return IntStream.range(0, 10_000)
        .mapToObj(i -> "x" + i)
        .filter(name -> HashSlots.crc16(name.getBytes(StandardCharsets.UTF_8)) % BUCKETS == bucket)
        .findFirst()
        .orElseThrow();
  }

  private static long refusals(RedisServer node) {
    return node.ask("INFO", "errorstats")
        .get(0)
        .lines()
        .filter(line -> line.startsWith("errorstat_ASK") || line.startsWith("errorstat_TRYAGAIN"))
        .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
        .sum();
  }

  @Test
  @Report({"redis/redis#9421", "redis/redis#1616", "redis/redis#2969"})
  void givenMoveOfASlotThatWasLeftHalfDone_thenItsLocksAreToldSo_andTheNodeIsLeftInPeace() {
    RedisServer from = cluster.masterOf(slot(1));
    RedisServer to =
        cluster.nodes().stream().filter(node -> node != from).findFirst().orElseThrow();
    String number = Integer.toString(slot(1));
    try (LockClient client = client()) {
      BoundedWait.join(client.lock(name(1)).acquireAsync()).close();
      to.ask("CLUSTER", "SETSLOT", number, "IMPORTING", from.ask("CLUSTER", "MYID").get(0));
      from.ask("CLUSTER", "SETSLOT", number, "MIGRATING", to.ask("CLUSTER", "MYID").get(0));
      long before = refusals(from);
      long began = System.nanoTime();
      assertThatThrownBy(() -> client.lock(name(1)).tryAcquire())
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("refused")
          .hasMessageMatching("(?s).*(ASK|TRYAGAIN).*");
      double seconds = (System.nanoTime() - began) / 1e9;
      assertThat(refusals(from) - before).isPositive().isLessThan((long) (20 + 25 * seconds));
      BoundedWait.join(client.lock(name(2)).acquireAsync()).close();
      from.ask("CLUSTER", "SETSLOT", number, "STABLE");
      to.ask("CLUSTER", "SETSLOT", number, "STABLE");
      assertThat(BoundedWait.join(client.lock(name(1)).acquireAsync(Trial.LONG)).isValid())
          .isTrue();
    } finally {
      from.ask("CLUSTER", "SETSLOT", number, "STABLE");
      to.ask("CLUSTER", "SETSLOT", number, "STABLE");
    }
  }

  @Test
  @Report({
    "StackExchange/StackExchange.Redis#2518",
    "OptimalBits/bull#540",
    "redis/redis#13444",
  })
  void givenClusterThatIsDown_thenARequestIsToldAsNotExecuted() {
    RedisServer stopped = cluster.masterOf(slot(0));
    int served =
        IntStream.range(0, BUCKETS)
            .filter(bucket -> cluster.masterOf(slot(bucket)) != stopped)
            .findFirst()
            .orElseThrow();
    RedisServer serving = cluster.masterOf(slot(served));
    cluster
        .nodes()
        .forEach(node -> node.ask("CONFIG", "SET", "cluster-require-full-coverage", "yes"));
    try (LockClient client = client()) {
      try (Lease lease = BoundedWait.join(client.lock(name(served)).acquireAsync())) {
        assertThat(lease.isValid()).isTrue();
      }
      stopped.pause();
      BoundedWait.until(
          Trial.LONG,
          "the cluster is down",
          () -> serving.ask("CLUSTER", "INFO").get(0).contains("cluster_state:fail"));
      assertThatThrownBy(() -> client.lock(name(served)).tryAcquire())
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("CLUSTERDOWN")
          .hasMessageContaining("was not executed");
    } finally {
      stopped.resume();
      BoundedWait.until(
          Trial.LONG,
          "the cluster is whole",
          () -> serving.ask("CLUSTER", "INFO").get(0).contains("cluster_state:ok"));
      cluster
          .nodes()
          .forEach(node -> node.ask("CONFIG", "SET", "cluster-require-full-coverage", "no"));
    }
  }
}
