package io.mortise.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.recipe.DistributedLatch;
import io.mortise.testserver.RedisSecurity;
import io.mortise.testserver.RedisSentinels;
import io.mortise.testserver.RedisServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
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
 * A master, two replicas and three Sentinels; one set for all tests here, each with its namespace.
 * All speak TLS and require passwords: one for the servers, another for the Sentinels.
 */
@Timeout(600)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Tag("extended")
class SentinelTest {
  private static final Duration LONG = Duration.ofSeconds(90);
  private static final AtomicInteger NAMESPACES = new AtomicInteger();

  @TempDir private static Path folder;
  private static RedisSecurity access;
  private static RedisSentinels set;

  private final String namespace = "n" + NAMESPACES.incrementAndGet();
  private final List<LockClient> clients = new ArrayList<>();

  @BeforeAll
  static void start() {
    access = RedisSecurity.make(folder, "of servers", "of%sentinels");
    set = RedisSentinels.start(RedisServers.REDIS_7.binary(), Duration.ofSeconds(5), access);
  }

  @AfterAll
  static void stop() {
    set.close();
  }

  @AfterEach
  void closeAll() {
    clients.forEach(LockClient::close);
  }

  private LockClient client(String... parameters) {
    String url = url("of%20servers", "of%25sentinels") + "&namespace=" + namespace;
    LockClient client =
        LockClient.builder()
            .url(parameters.length == 0 ? url : url + "&" + String.join("&", parameters))
            // A failover may take several elections.
            .ttl(LONG)
            .build();
    clients.add(client);
    return client;
  }

  private static String url(String password, String sentinelPassword) {
    return set.url().replace("://", "://:" + password + "@")
        + "?"
        + access.trusted()
        + "&sentinel-password="
        + sentinelPassword;
  }

  /** Until the clients' last writes have reached the replicas. */
  private static void awaitReplication() {
    assertThat(set.master().ask("WAIT", "2", "10000")).containsExactly("2");
  }

  private static void awaitReplicas() {
    await().atMost(LONG).until(set::isWhole);
  }

  @Test
  @Order(1)
  void givenHeldLock_whenAReplicaTakesOver_thenTheLeaseIsConfirmedThere_andLocksWorkAtOnce()
      throws Exception {
    LockClient a = client();
    LockClient b = client();
    Lease held = a.lock("held").acquire();
    ConcurrentLinkedQueue<LeaseLostException> lost = new ConcurrentLinkedQueue<>();
    held.onLost(lost::add);
    CompletableFuture<Lease> waiting = b.lock("held").acquireAsync();
    await().atMost(LONG).until(() -> a.admin().find("held").orElseThrow().waiters().size() == 1);
    awaitReplicas();
    awaitReplication();

    RedisServer old = set.master();
    set.failOver();
    set.awaitMasterOtherThan(old);
    Lease fresh = firstAfterPromotion(a);

    await().atMost(LONG.multipliedBy(2)).until(held::isValid);
    assertThat(lost).isEmpty();
    assertThat(waiting).isNotDone();
    long token = held.token();
    held.close();
    try (Lease next = waiting.get(30, java.util.concurrent.TimeUnit.SECONDS)) {
      assertThat(next.token()).isGreaterThan(token);
    }
    fresh.close();
    awaitReplicas();
  }

  /** Takes a lock as soon as the newly promoted master grants it. */
  private static Lease firstAfterPromotion(LockClient client) throws InterruptedException {
    long promoted = System.nanoTime();
    Lease fresh = null;
    while (fresh == null) {
      try {
        fresh = client.lock("fresh").acquireWithin(LONG);
      } catch (StoreUnavailableException e) {
        assertThat(Duration.ofNanos(System.nanoTime() - promoted)).isLessThan(LONG);
      }
    }
    Duration usable = Duration.ofNanos(System.nanoTime() - promoted);
    System.out.println("Sentinel: locks usable " + usable.toMillis() + " ms after the promotion");
    // The target is two seconds, on an idle machine.
    assertThat(usable).isLessThan(LONG);
    return fresh;
  }

  /** Runs last, for it leaves a server dead: killed, as by kill -9. */
  @Test
  @Order(9)
  void
      givenLockThatNoReplicaHasHeardOf_whenTheMasterDies_thenItsLeaseIsLost_andTheNextTokenIsGreater()
          throws Exception {
    LockClient a = client();
    LockClient b = client();
    try (Lease known = a.lock("known").acquire()) {
      awaitReplicas();
      awaitReplication();
      RedisServer old = set.master();
      List<RedisServer> replicas = set.replicas();
      replicas.forEach(RedisServer::pause);
      old.ask("CLIENT", "KILL", "TYPE", "replica");
      Lease forgotten = a.lock("forgotten").acquire();
      long token = forgotten.token();
      ConcurrentLinkedQueue<LeaseLostException> lost = new ConcurrentLinkedQueue<>();
      forgotten.onLost(lost::add);
      old.kill();
      replicas.forEach(RedisServer::resume);

      set.awaitMasterOtherThan(old);
      // The old master answers no more: the new one grants.
      firstAfterPromotion(b).close();
      await().atMost(LONG.multipliedBy(2)).until(() -> !lost.isEmpty());
      assertThat(forgotten.isValid()).isFalse();
      assertThat(lost.peek()).hasMessageContaining("forgot it when another server took over");
      try (Lease next = b.lock("forgotten").acquireWithin(LONG)) {
        assertThat(next.token()).isGreaterThan(token);
      }
      await().atMost(LONG.multipliedBy(2)).until(known::isValid);
      assertThatThrownBy(forgotten::close).isInstanceOf(LeaseLostException.class);
    }
  }

  @Test
  @Order(2)
  void givenReplicasThatDoNotAnswer_thenAGrantIsRefusedThatWaitsForThem_andSaysSo()
      throws Exception {
    awaitReplicas();
    LockClient patient = client("wait-replicas=2", "wait-timeout=1s");
    LockClient all = client("wait-replicas=all", "wait-timeout=1s");
    LockClient one = client("wait-replicas=1");
    patient.lock("replicated").acquireWithin(LONG).close();
    all.lock("replicated").acquireWithin(LONG).close();
    DistributedLatch latch = patient.latch("replicated", 2);
    assertThat(latch.countDown("a")).isEqualTo(1);
    RedisServer silent = set.replicas().get(0);
    silent.pause();
    try {
      assertThatThrownBy(() -> latch.countDown("b"))
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("1 of 2 replicas acknowledged");
      assertThatThrownBy(() -> patient.lock("replicated").tryAcquire())
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("1 of 2 replicas acknowledged");
      assertThatThrownBy(() -> all.lock("by all").tryAcquire())
          .isInstanceOf(StoreUnavailableException.class);
      // The unconfirmed grant was released.
      one.lock("replicated").acquireWithin(LONG).close();
    } finally {
      silent.resume();
    }
    patient.lock("replicated").acquireWithin(LONG).close();
    assertThat(latch.countDown("b")).isZero();
  }

  /** Runs after the test that has had a failover. */
  @Test
  @Order(6)
  void
      givenSentinelsThatCountFailoversAnew_thenAConnectionThatBreaksIsMadeAnew_andTheNextFailoverIsFollowed()
          throws Exception {
    LockClient a = client("timeout=1s");
    a.lock("before").acquireWithin(LONG).close();
    if (set.failovers() == 0) {
      failOverAndFollow(a);
    }
    assertThat(set.failovers()).isPositive();
    set.watchAnew();
    assertThat(set.failovers()).isZero();
    for (String type : List.of("normal", "pubsub")) {
      set.master().ask("CLIENT", "KILL", "TYPE", type);
    }
    awaitLocked(a);
    failOverAndFollow(a);
  }

  private static void failOverAndFollow(LockClient client) {
    awaitReplicas();
    RedisServer old = set.master();
    set.failOver();
    RedisServer fresh = set.awaitMasterOtherThan(old);
    awaitLocked(client);
    await()
        .atMost(LONG)
        .until(() -> fresh.ask("CLIENT", "LIST", "TYPE", "pubsub").get(0).contains("name=mortise"));
  }

  private static void awaitLocked(LockClient client) {
    await()
        .atMost(LONG)
        .ignoreExceptionsInstanceOf(StoreUnavailableException.class)
        .until(
            () -> {
              Optional<Lease> lease = client.lock("probe").tryAcquire(Duration.ofSeconds(1));
              lease.ifPresent(Lease::close);
              return lease.isPresent();
            });
  }

  @Test
  @Order(3)
  void givenNameThatNoSentinelKnows_thenItIsRefused() {
    String url = url("of%20servers", "of%25sentinels").replace("mymaster", "nosuch");
    assertThatThrownBy(() -> LockClient.connect(url))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining("nosuch");
  }

  @Test
  @Order(4)
  void givenWrongPassword_thenItIsSaidWhoseItIs() {
    assertThatThrownBy(() -> LockClient.connect(url("of%20servers", "wrong")))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining("Sentinel at 127.0.0.1")
        .hasMessageContaining("sentinel-password");
    assertThatThrownBy(() -> LockClient.connect(url("wrong", "of%25sentinels")))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining("refused the credentials")
        .satisfies(e -> assertThat(e.getMessage()).doesNotContain("Sentinel at"));
  }

  @Test
  @Order(5)
  void givenCertificateThatIsNotTrusted_thenItIsRefused() {
    String url = url("of%20servers", "of%25sentinels").replace(access.trusted() + "&", "");
    assertThatThrownBy(() -> LockClient.connect(url))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining("TLS");
  }
}
