package io.mortise.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.redis.cluster.HashSlots;
import io.mortise.testserver.RedisCluster;
import io.mortise.testserver.RedisSecurity;
import io.mortise.testserver.RedisServer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.assertj.core.api.Assumptions;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three masters with a replica each; one cluster for all tests here, each with its namespace. With
 * {@code -Dmortise.redis.tls=true} all speak TLS and require a password; the differential test on
 * the oldest servers uses such a cluster in every build.
 */
@Timeout(600)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Tag("extended")
class RedisClusterTest {
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final Duration FAST = Duration.ofMillis(2);
  private static final int BUCKETS = 16;
  private static final AtomicInteger NAMESPACES = new AtomicInteger();

  @TempDir private static Path folder;
  private static String secrets = "?";
  private static RedisCluster cluster;

  private final String namespace = "n" + NAMESPACES.incrementAndGet();
  private final List<LockClient> clients = new ArrayList<>();

  @BeforeAll
  static void start() {
    RedisSecurity access =
        Boolean.getBoolean("mortise.redis.tls") ? RedisSecurity.make(folder, "secret", "") : null;
    cluster =
        RedisCluster.start(RedisServers.REDIS_7.binary(), 3, true, Duration.ofSeconds(5), access);
    secrets = access == null ? "?" : "?" + access.trusted() + "&";
  }

  private static String url(String parameters) {
    return cluster.url().replace("rediss-cluster://", "rediss-cluster://:secret@")
        + secrets
        + parameters;
  }

  @AfterAll
  static void stop() {
    cluster.close();
  }

  @AfterEach
  void closeAll() {
    clients.forEach(LockClient::close);
  }

  private LockClient client() {
    LockClient client =
        LockClient.builder()
            .url(url("buckets=" + BUCKETS + "&timeout=2s&namespace=" + namespace))
            .ttl(LONG)
            .build();
    clients.add(client);
    return client;
  }

  private static int bucketOf(String name) {
    return HashSlots.crc16(name.getBytes(StandardCharsets.UTF_8)) % BUCKETS;
  }

  private int slotOf(String name) {
    return HashSlots.of("m:%s:{b%02d}:".formatted(namespace, bucketOf(name)));
  }

  /** A name whose lock that node keeps, or does not keep. */
  private String nameAt(RedisServer node, boolean there) {
    return IntStream.range(0, 1000)
        .mapToObj(i -> "lock/" + i)
        .filter(name -> (cluster.masterOf(slotOf(name)) == node) == there)
        .findFirst()
        .orElseThrow();
  }

  @Test
  @Order(1)
  void givenKeys_thenTheirSlotsAreThoseOfTheServer() {
    for (String key : List.of("", "foo", "m:x:{b07}:l:{other}y", "a{}b", "{", "ä{ö}ü")) {
      assertThat(HashSlots.of(key)).as(key).isEqualTo(cluster.slotOf(key));
    }
  }

  @Test
  @Order(2)
  void givenAnotherNumberOfBuckets_thenItIsRefused_andWithoutOneThatOfTheClusterIsTaken()
      throws Exception {
    Lease lease = client().lock("x").acquire();
    assertThatThrownBy(() -> LockClient.connect(url("buckets=8&namespace=" + namespace)))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining("16 buckets");
    try (LockClient other = LockClient.connect(url("namespace=" + namespace))) {
      assertThat(other.lock("x").tryAcquire()).isEmpty();
    }
    lease.close();
  }

  @Test
  @Order(3)
  void givenServerAlone_thenItIsNoCluster_andAClusterIsNoServerAlone() {
    assertThatThrownBy(
            () ->
                LockClient.connect(
                    (secrets.equals("?") ? "redis://127.0.0.1:" : "redis://:secret@127.0.0.1:")
                        + cluster.nodes().get(0).port()))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining("redis-cluster://");
    try (RedisServer alone = RedisServers.REDIS_7.start()) {
      assertThatThrownBy(() -> LockClient.connect("redis-cluster://127.0.0.1:" + alone.port()))
          .isInstanceOf(StoreUnfitException.class)
          .hasMessageContaining("no cluster");
    }
  }

  /** Counts without a lock of its own: concurrent increments are counted once. */
  private static final class Counter {
    private volatile int value;
    final AtomicInteger rounds = new AtomicInteger();

    @SuppressWarnings("NonAtomicVolatileUpdate") // A lost update is what the test looks for.
    void add() {
      int seen = value;
      LockSupport.parkNanos(1_000);
      value = seen + 1;
      rounds.incrementAndGet();
    }
  }

  @Test
  @Order(4)
  void givenLocksInUse_whenTheirSlotMoves_thenNobodyIsLetInTwice_andLeasesStayValid()
      throws Exception {
    LockClient a = client();
    LockClient b = client();
    String busy = "busy";
    String held =
        IntStream.range(0, 1000)
            .mapToObj(i -> "held/" + i)
            .filter(name -> bucketOf(name) == bucketOf(busy))
            .findFirst()
            .orElseThrow();
    Lease lease = a.lock(held).acquire();
    Counter counter = new Counter();
    AtomicBoolean stop = new AtomicBoolean();
    List<CompletableFuture<Void>> workers = new ArrayList<>();
    for (LockClient client : List.of(a, b, a, b)) {
      workers.add(
          CompletableFuture.runAsync(
              () -> {
                while (!stop.get()) {
                  try (Lease mine = client.lock(busy).acquireWithin(LONG)) {
                    // The lease is in doubt until the slot's new server has confirmed it.
                    if (mine.isValid()) {
                      counter.add();
                    }
                  } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                  }
                }
              }));
    }
    int slot = slotOf(busy);
    RedisServer home = cluster.masterOf(slot);
    RedisServer other =
        cluster.nodes().stream().limit(3).filter(node -> node != home).findFirst().orElseThrow();
    for (int round = 0; round < 3; round++) {
      for (RedisServer to : List.of(other, home)) {
        int before = counter.rounds.get();
        await().atMost(LONG).until(() -> counter.rounds.get() > before + 20);
        cluster.moveSlot(slot, to);
        int moved = counter.rounds.get();
        await().atMost(LONG).until(() -> counter.rounds.get() > moved + 20);
      }
    }
    stop.set(true);
    for (CompletableFuture<Void> worker : workers) {
      worker.get(60, TimeUnit.SECONDS);
    }
    assertThat(counter.value).isEqualTo(counter.rounds.get());
    assertThat(lease.isValid()).isTrue();
    lease.close();
  }

  /** How many maps claim the latest epoch; with several, two nodes may serve one slot. */
  private static long epochs() {
    return cluster.nodes().stream()
        .flatMap(node -> node.ask("CLUSTER", "INFO").get(0).lines())
        .filter(line -> line.startsWith("cluster_current_epoch:"))
        .distinct()
        .count();
  }

  /** By polling alone it takes seconds: no waiter is notified, but none waits for ever. */
  @Test
  @Order(5)
  void givenSlotThatLeavesAndComesBackAtOnce_thenWaitersAreToldOfTheirTurnAgain() throws Exception {
    LockClient a = client();
    LockClient b = client();
    String name = "there and back";
    Lease held = a.lock(name).acquire();
    CompletableFuture<Lease> waiting = b.lock(name).acquireAsync();
    await().atMost(LONG).until(() -> a.admin().find(name).orElseThrow().waiters().size() == 1);
    int slot = slotOf(name);
    RedisServer home = cluster.masterOf(slot);
    RedisServer other =
        cluster.nodes().stream().limit(3).filter(node -> node != home).findFirst().orElseThrow();
    String inboxes = "m:%s:{b%02d}:i:*".formatted(namespace, bucketOf(name));
    await().atMost(LONG).until(() -> home.ask("PUBSUB", "SHARDCHANNELS", inboxes).size() == 2);
    for (int round = 0; round < 5; round++) {
      // Some moves fall between two looks of the client at the map.
      for (RedisServer to : List.of(other, home)) {
        cluster.moveSlot(slot, to);
        await()
            .atMost(LONG)
            .pollInterval(FAST)
            .until(() -> epochs() == 1 && cluster.masterOf(slot) == to);
      }
    }
    await().atMost(LONG).until(() -> home.ask("PUBSUB", "SHARDCHANNELS", inboxes).size() == 2);
    held.close();
    waiting.get(30, TimeUnit.SECONDS).close();
  }

  /** All locks of a node share a connection, which stands still while WAIT is in flight. */
  @Test
  @Order(6)
  void
      givenManyLocksThatWaitForAReplica_whenItStandsStill_thenEachIsToldSo_andNoConnectionIsDropped()
          throws Exception {
    try (LockClient client =
        LockClient.builder()
            .url(
                url(
                    "buckets="
                        + BUCKETS
                        + "&timeout=4s&wait-replicas=1&wait-timeout=500ms&namespace="
                        + namespace))
            .ttl(LONG)
            .build()) {
      List<String> names = IntStream.range(0, 48).mapToObj(i -> "many/" + i).toList();
      // Opens sessions in all buckets.
      for (String name : names) {
        client.lock(name).acquireWithin(LONG).close();
      }
      RedisServer replica =
          cluster.nodes().stream()
              .filter(node -> node.says("role", "slave"))
              .findFirst()
              .orElseThrow();
      List<CompletableFuture<String>> outcomes;
      replica.pause();
      try {
        outcomes =
            names.stream()
                .map(
                    name ->
                        CompletableFuture.supplyAsync(
                            () -> outcome(client, name), task -> new Thread(task).start()))
                .toList();
        for (CompletableFuture<String> outcome : outcomes) {
          assertThat(outcome.get(60, TimeUnit.SECONDS))
              .matches("granted|(?s).*0 of 1 replicas acknowledged.*");
        }
      } finally {
        replica.resume();
      }
      assertThat(outcomes).anyMatch(outcome -> !outcome.join().equals("granted"));
      assertThat(outcomes).anyMatch(outcome -> outcome.join().equals("granted"));
    }
  }

  private static String outcome(LockClient client, String name) {
    try {
      return client.lock(name).tryAcquire().map(RedisClusterTest::released).orElse("busy");
    } catch (RuntimeException e) {
      return String.valueOf(e.getMessage());
    }
  }

  private static String released(Lease lease) {
    lease.close();
    return "granted";
  }

  @Test
  @Order(7)
  void givenUserWithTheRightsThatTheManualNames_thenLocksWork_andWaitersAreTold() throws Exception {
    Assumptions.assumeThat(secrets).isEqualTo("?");
    String rights =
        "on >password ~m:* resetchannels &m:* +@connection +@scripting +@pubsub +@read +@string"
            + " +@hash +@list +@sortedset +info +time +del +pexpire +persist +wait +cluster|info"
            + " +cluster|slots";
    List<String> words = new ArrayList<>(List.of("ACL", "SETUSER", "app"));
    words.addAll(List.of(rights.split(" ")));
    for (RedisServer node : cluster.nodes()) {
      node.ask(words.toArray(String[]::new));
    }
    String url =
        url("buckets=" + BUCKETS + "&wait-replicas=1&namespace=" + namespace)
            .replace("://", "://app:password@");
    try (LockClient a = LockClient.connect(url);
        LockClient b = LockClient.connect(url)) {
      for (int i = 0; i < 32; i++) {
        String name = "app/" + i;
        Lease held = a.lock(name).acquireWithin(LONG);
        CompletableFuture<Lease> waiting = b.lock(name).acquireAsync();
        await().atMost(LONG).until(() -> a.admin().find(name).orElseThrow().waiters().size() == 1);
        held.close();
        waiting.get(30, TimeUnit.SECONDS).close();
      }
      long buckets = IntStream.range(0, 32).map(i -> bucketOf("app/" + i)).distinct().count();
      int inboxes = 0;
      for (RedisServer node : cluster.nodes()) {
        inboxes += node.ask("PUBSUB", "SHARDCHANNELS", "m:" + namespace + ":*").size();
      }
      assertThat(inboxes).isEqualTo((int) (2 * buckets));
    }
  }

  @Test
  @Order(8)
  void givenMasterThatDies_thenItsReplicaTakesOver_andOnlyItsSlotsHaveToWait() throws Exception {
    LockClient a = client();
    LockClient b = client();
    RedisServer dying = cluster.nodes().get(0);
    String there = nameAt(dying, true);
    String elsewhere = nameAt(dying, false);
    Lease held = a.lock(there).acquire();
    Lease other = a.lock(elsewhere).acquire();
    ConcurrentLinkedQueue<LeaseLostException> lost = new ConcurrentLinkedQueue<>();
    held.onLost(lost::add);
    other.onLost(lost::add);
    long token = held.token();
    CompletableFuture<Lease> waiting = b.lock(there).acquireAsync();
    await().atMost(LONG).until(() -> a.admin().find(there).orElseThrow().waiters().size() == 1);
    assertThat(dying.ask("WAIT", "1", "10000")).containsExactly("1");

    dying.kill();
    // Meanwhile the other nodes serve.
    for (int i = 0; i < 20; i++) {
      String name = elsewhere;
      try (Lease next = b.lock(name + "/" + i).tryAcquire(Duration.ofSeconds(10)).orElse(null)) {
        boolean served = next != null && next.isValid();
        assertThat(served || bucketIsAt(dying, name + "/" + i)).isTrue();
      } catch (StoreUnavailableException e) {
        assertThat(bucketIsAt(dying, name + "/" + i)).isTrue();
      }
    }
    RedisServer replica = cluster.nodes().get(3);
    await()
        .atMost(LONG)
        .pollInterval(Duration.ofMillis(5))
        .until(() -> replica.says("role", "master"));
    long promoted = System.nanoTime();
    String fresh =
        IntStream.range(0, 1000)
            .mapToObj(i -> "fresh/" + i)
            .filter(name -> bucketOf(name) == bucketOf(there))
            .findFirst()
            .orElseThrow();
    Lease first = null;
    while (first == null) {
      try {
        first = b.lock(fresh).acquireWithin(LONG);
      } catch (StoreUnavailableException e) {
        assertThat(Duration.ofNanos(System.nanoTime() - promoted)).isLessThan(LONG);
      }
    }
    Duration usable = Duration.ofNanos(System.nanoTime() - promoted);
    System.out.println("Cluster: locks usable " + usable.toMillis() + " ms after the promotion");
    assertThat(usable).isLessThan(LONG);
    first.close();
    await().atMost(LONG.multipliedBy(2)).until(held::isValid);
    assertThat(other.isValid()).isTrue();
    assertThat(lost).isEmpty();
    held.close();
    try (Lease next = waiting.get(30, TimeUnit.SECONDS)) {
      assertThat(next.token()).isGreaterThan(token);
    }
    other.close();
  }

  private boolean bucketIsAt(RedisServer node, String name) {
    int index = cluster.nodes().indexOf(node);
    int slot = slotOf(name);
    return slot >= RedisCluster.SLOTS * index / 3 && slot < RedisCluster.SLOTS * (index + 1) / 3;
  }

  @Test
  @Order(9)
  void givenNodeWithoutReplica_whenItDies_thenOnlyItsLeasesAreLost() throws Exception {
    // The promoted replica has no replica of its own.
    RedisServer dying = cluster.nodes().get(3);
    try (LockClient mortal =
        LockClient.builder()
            .url(url("buckets=" + BUCKETS + "&timeout=1s&namespace=" + namespace))
            .ttl(Duration.ofSeconds(8))
            .build()) {
      Lease there = mortal.lock(nameAt(dying, true)).acquire();
      Lease elsewhere = mortal.lock(nameAt(dying, false)).acquire();
      dying.kill();
      await().atMost(LONG).until(() -> there.state() == Lease.State.LOST);
      assertThat(elsewhere.isValid()).isTrue();
      elsewhere.close();
      assertThatThrownBy(there::close).isInstanceOf(LeaseLostException.class);
    }
  }
}
