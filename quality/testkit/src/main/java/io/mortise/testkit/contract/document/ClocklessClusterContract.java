package io.mortise.testkit.contract.document;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.StoreUnavailableException;
import io.mortise.annotation.Beta;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.RerunIfPaused;
import io.mortise.testkit.server.LocalServer;
import io.mortise.testkit.server.LocalServer.LocalCluster;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * Locks in a store of clockless documents, when one of three members dies or is paused. For an
 * adapter whose URL has the parameters {@code namespace} and {@code timeout}, and may name several
 * servers. Each test has its own namespace.
 *
 * @param <S> a member
 */
@Beta
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class ClocklessClusterContract<S extends LocalServer> {
  private static final AtomicInteger NAMESPACES = new AtomicInteger();
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final Duration TTL = Duration.ofSeconds(10);

  private @Nullable LocalCluster<S> cluster;
  private String parameters = "";

  /** For subclasses. */
  protected ClocklessClusterContract() {}

  /** Starts a cluster for the tests of the class, which is closed after them. */
  protected abstract LocalCluster<S> start();

  @BeforeAll
  final void startCluster() {
    cluster = start();
  }

  @AfterAll
  final void closeCluster() {
    if (cluster != null) {
      cluster.close();
    }
  }

  @BeforeEach
  final void takeNamespace() {
    parameters = "?timeout=1s&namespace=cluster" + NAMESPACES.incrementAndGet();
  }

  private LocalCluster<S> cluster() {
    return Objects.requireNonNull(cluster);
  }

  private LockClient client(String url, Duration ttl) {
    return LockClient.builder().url(url + parameters).ttl(ttl).build();
  }

  private static CompletableFuture<Lease> queue(LockClient other) {
    CompletableFuture<Lease> waiting = other.lock("x").acquireAsync();
    BoundedWait.until(
        LONG, "one waits", () -> other.admin().find("x").orElseThrow().waiters().size() == 1);
    return waiting;
  }

  /** Returns the token of the first acquire that is answered, as is its release. */
  private static long awaitAnswers(LockClient client, String lock) {
    AtomicLong token = new AtomicLong();
    BoundedWait.until(
        LONG,
        "an acquire and a release were answered",
        () -> {
          try (Lease lease = client.lock(lock).acquireWithin(LONG)) {
            token.set(lease.token());
            return true;
          } catch (StoreUnavailableException e) {
            return false;
          } catch (InterruptedException e) {
            throw new AssertionError(e);
          }
        });
    return token.get();
  }

  @Test
  @RerunIfPaused
  void givenHolderAndWaiter_whenTheLeaderIsKilled_thenTheOthersServe_andBothKeepTheirPlaces()
      throws Exception {
    int leader = cluster().leader(0);
    try (LockClient holder = client(cluster().url(leader), TTL);
        LockClient other = client(cluster().url(leader), TTL)) {
      Lease lease = holder.lock("x").acquireWithin(LONG);
      CompletableFuture<Lease> waiting = queue(other);
      cluster().member(leader).kill();
      try {
        assertThat(cluster().leaderAfter(leader, (leader + 1) % cluster().size()))
            .isNotEqualTo(leader);
        awaitAnswers(holder, "y");
        lease.ensureValid();
        assertThat(waiting).isNotDone();
        lease.close();
        try (Lease next = waiting.get(LONG.toSeconds(), TimeUnit.SECONDS)) {
          assertThat(next.token()).isGreaterThan(lease.token());
        }
      } finally {
        cluster().member(leader).restart();
      }
    }
  }

  /** Its connections stay open: each request detects the pause by its timeout. */
  @Test
  @RerunIfPaused
  void givenLeaderThatStandsStill_thenItsClientsGoToAnotherMember_andTheHolderKeepsItsLock()
      throws Exception {
    int leader = cluster().leader(0);
    try (LockClient holder = client(cluster().url(leader), TTL);
        LockClient other = client(cluster().url(leader), TTL)) {
      Lease lease = holder.lock("x").acquireWithin(LONG);
      CompletableFuture<Lease> waiting = queue(other);
      long paused = System.nanoTime();
      cluster().member(leader).pause();
      try {
        awaitAnswers(holder, "y");
        BoundedWait.until(
            LONG, "a TTL passed", () -> System.nanoTime() - paused > TTL.plusSeconds(1).toNanos());
        lease.ensureValid();
        assertThat(waiting).isNotDone();
      } finally {
        cluster().member(leader).resume();
      }
      lease.close();
      waiting.get(LONG.toSeconds(), TimeUnit.SECONDS).close();
    }
  }

  /** Simulates a member that is cut off from the others, as seen by its clients. */
  @Test
  @RerunIfPaused
  void givenMemberWithoutTheOthers_thenItGrantsNothing_andLeasesOnItsSideEndByTheirDeadline()
      throws Exception {
    int alone = 0;
    List<S> others = IntStream.range(1, cluster().size()).mapToObj(cluster()::member).toList();
    Duration ttl = Duration.ofSeconds(3);
    try (LockClient holder = client(cluster().member(alone).url(), ttl);
        LockClient other = client(cluster().member(alone).url(), ttl)) {
      awaitAnswers(other, "y");
      Lease lease = holder.lock("x").acquireWithin(LONG);
      long token = lease.token();
      others.forEach(LocalServer::pause);
      try {
        assertThatThrownBy(() -> other.lock("z").tryAcquire())
            .isInstanceOf(StoreUnavailableException.class);
        BoundedWait.until(LONG, "the lease ends", () -> !lease.isValid());
      } finally {
        others.forEach(LocalServer::resume);
      }
      assertThat(awaitAnswers(other, "x")).isGreaterThan(token);
      assertThatThrownBy(lease::close).isInstanceOf(LeaseLostException.class);
    }
  }
}
