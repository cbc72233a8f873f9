package io.mortise.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.StoreUnavailableException;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.RerunIfPaused;
import io.mortise.testkit.server.EtcdServer;
import io.mortise.testkit.server.EtcdServer.EtcdCluster;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What becomes of locks when one of three members dies or stands still. */
class EtcdClusterTest {
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final Duration TTL = Duration.ofSeconds(10);

  private static EtcdCluster cluster;

  private final String namespace = "?timeout=1s&namespace=" + EtcdServers.namespace();

  @BeforeAll
  static void start() {
    cluster = EtcdCluster.start(EtcdServers.program());
  }

  @AfterAll
  static void stop() {
    if (cluster != null) {
      cluster.close();
    }
  }

  private LockClient client(String url, Duration ttl) {
    return LockClient.builder().url(url + namespace).ttl(ttl).build();
  }

  private static CompletableFuture<Lease> queue(LockClient other) {
    CompletableFuture<Lease> waiting = other.lock("x").acquireAsync();
    await().atMost(LONG).until(() -> other.admin().find("x").orElseThrow().waiters().size() == 1);
    return waiting;
  }

  /** Until an acquire and a release have been answered. */
  private static void awaitAnswers(LockClient client) {
    await()
        .atMost(LONG)
        .ignoreExceptionsInstanceOf(StoreUnavailableException.class)
        .until(
            () -> {
              client.lock("y").acquireWithin(LONG).close();
              return true;
            });
  }

  @Test
  @RerunIfPaused
  void givenHolderAndWaiter_whenTheLeaderIsKilled_thenTheOthersServe_andBothKeepTheirPlaces()
      throws Exception {
    int leader = cluster.leader(0);
    try (LockClient holder = client(cluster.url(leader), TTL);
        LockClient other = client(cluster.url(leader), TTL)) {
      Lease lease = holder.lock("x").acquireWithin(LONG);
      CompletableFuture<Lease> waiting = queue(other);
      cluster.member(leader).kill();
      try {
        assertThat(cluster.leaderAfter(leader, (leader + 1) % cluster.size())).isNotEqualTo(leader);
        awaitAnswers(holder);
        lease.ensureValid();
        assertThat(waiting).isNotDone();
        lease.close();
        try (Lease next = waiting.get(LONG.toSeconds(), TimeUnit.SECONDS)) {
          assertThat(next.token()).isGreaterThan(lease.token());
        }
      } finally {
        cluster.member(leader).restart();
      }
    }
  }

  /** Its connections stay open: each request has to find out by its timeout. */
  @Test
  @RerunIfPaused
  void givenLeaderThatStandsStill_thenItsClientsGoToAnotherMember_andTheHolderKeepsItsLock()
      throws Exception {
    int leader = cluster.leader(0);
    try (LockClient holder = client(cluster.url(leader), TTL);
        LockClient other = client(cluster.url(leader), TTL)) {
      Lease lease = holder.lock("x").acquireWithin(LONG);
      CompletableFuture<Lease> waiting = queue(other);
      long paused = System.nanoTime();
      cluster.member(leader).pause();
      try {
        awaitAnswers(holder);
        BoundedWait.until(
            LONG, "a TTL passed", () -> System.nanoTime() - paused > TTL.plusSeconds(1).toNanos());
        lease.ensureValid();
        assertThat(waiting).isNotDone();
      } finally {
        cluster.member(leader).resume();
      }
      lease.close();
      waiting.get(LONG.toSeconds(), TimeUnit.SECONDS).close();
    }
  }

  /** For its clients as if it were cut off from the others. */
  @Test
  @RerunIfPaused
  void givenMemberWithoutTheOthers_thenItGrantsNothing_andLeasesOnItsSideEndByTheirDeadline()
      throws Exception {
    int alone = 0;
    List<EtcdServer> others = IntStream.range(1, cluster.size()).mapToObj(cluster::member).toList();
    Duration ttl = Duration.ofSeconds(3);
    try (LockClient holder = client(cluster.member(alone).url(), ttl);
        LockClient other = client(cluster.member(alone).url(), ttl)) {
      awaitAnswers(other);
      Lease lease = holder.lock("x").acquireWithin(LONG);
      long token = lease.token();
      others.forEach(EtcdServer::pause);
      try {
        assertThatThrownBy(() -> other.lock("z").tryAcquire())
            .isInstanceOf(StoreUnavailableException.class);
        await().atMost(LONG).until(() -> !lease.isValid());
      } finally {
        others.forEach(EtcdServer::resume);
      }
      await()
          .atMost(LONG)
          .ignoreExceptionsInstanceOf(StoreUnavailableException.class)
          .untilAsserted(
              () -> {
                try (Lease next = other.lock("x").acquireWithin(LONG)) {
                  assertThat(next.token()).isGreaterThan(token);
                }
              });
      assertThatThrownBy(lease::close).isInstanceOf(LeaseLostException.class);
    }
  }
}
