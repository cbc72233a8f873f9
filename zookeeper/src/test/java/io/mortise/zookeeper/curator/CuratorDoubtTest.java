package io.mortise.zookeeper.curator;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.DistributedLock;
import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.testkit.Waits;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The server has done what was asked, and its answer is lost with the connection. */
class CuratorDoubtTest {
  private final Fleet fleet = new Fleet();
  private final LossyLine line = fleet.closedLater(new LossyLine(Fleet.server().port()));

  @AfterEach
  void closeFleet() throws Exception {
    fleet.close();
  }

  private LockClient client(String recipe) throws Exception {
    String url = fleet.url(recipe).replace(Fleet.server().address(), line.address());
    LockClient client = fleet.closedLater(LockClient.builder().url(url).ttl(Fleet.TTL).build());
    // So that its session and the directories are there.
    client.lock("other").acquireWithin(Fleet.LONG).close();
    for (String name : List.of("a", "pool/locks", "pool/leases")) {
      fleet.looking().create().creatingParentsIfNeeded().forPath(fleet.path(name));
    }
    return client;
  }

  @Test
  void givenNodeWhoseCreationWasNotAnswered_thenItIsFoundAgain_andThereIsOneOnly()
      throws Exception {
    DistributedLock lock = client("mutex").lock("a");
    line.loseAnswers();
    Future<Lease> acquiring = fleet.start(() -> lock.acquireWithin(Fleet.LONG));
    fleet.awaitNodes(fleet.path("a"), 1);
    assertThat(acquiring).isNotDone();
    line.breakAndMend();

    Lease lease = Fleet.get(acquiring);

    assertThat(fleet.nodes(fleet.path("a"))).hasSize(1);
    String node = fleet.path("a") + "/" + fleet.nodes(fleet.path("a")).get(0);
    long czxid = fleet.looking().checkExists().forPath(node).getCzxid();
    assertThat(lease.token()).isEqualTo(Tokens.first(czxid));
    lease.close();
    assertThat(fleet.nodes(fleet.path("a"))).isEmpty();
  }

  @Test
  void givenWaitThatEndsInDoubt_thenNoNodeIsLeft() throws Exception {
    DistributedLock lock = client("mutex").lock("a");
    line.loseAnswers();
    Future<Object> trying =
        fleet.start(
            () -> {
              try {
                return lock.tryAcquire(Duration.ofMillis(500));
              } catch (io.mortise.StoreUnavailableException e) {
                return e;
              }
            });
    fleet.awaitNodes(fleet.path("a"), 1);
    Fleet.get(trying);
    line.breakAndMend();
    fleet.awaitNodes(fleet.path("a"), 0);
    Fleet.get(fleet.start(() -> lock.acquireWithin(Fleet.LONG))).close();
  }

  @Test
  void givenReleaseThatWasNotAnswered_thenItIsKnownToBeDone() throws Exception {
    DistributedLock lock = client("mutex").lock("a");
    Lease lease = lock.acquireWithin(Fleet.LONG);
    line.loseAnswers();
    CompletableFuture<Void> released = lease.releaseAsync();
    fleet.awaitNodes(fleet.path("a"), 0);
    line.breakAndMend();
    assertThat(released).succeedsWithin(Fleet.LONG);
    lock.acquireWithin(Fleet.LONG).close();
  }

  @Test
  void givenLeasesWhoseCreationWasNotAnswered_thenTheyAreFoundAgain_andAreNoMoreThanAskedFor()
      throws Exception {
    DistributedLock two = client("mutex").semaphore("pool", 3).permits(2);
    line.loseAnswers();
    Future<Lease> acquiring = fleet.start(() -> two.acquireWithin(Fleet.LONG));
    fleet.awaitNodes(fleet.path("pool/locks"), 1);
    line.breakAndMend();
    Lease lease = Fleet.get(acquiring);
    assertThat(fleet.nodes(fleet.path("pool/leases"))).hasSize(2);
    assertThat(fleet.nodes(fleet.path("pool/locks"))).isEmpty();
    line.loseAnswers();
    CompletableFuture<Void> released = lease.releaseAsync();
    fleet.awaitNodes(fleet.path("pool/leases"), 0);
    line.breakAndMend();
    assertThat(released).succeedsWithin(Fleet.LONG);
  }

  @Test
  void givenDowngradeThatWasNotAnswered_thenTheHoldIsReleasedAllTheSame() throws Exception {
    LockClient client = client("readwrite");
    Lease writer = client.readWriteLock("doc").writeLock().acquireWithin(Fleet.LONG);
    line.loseAnswers();
    Future<Object> narrowing =
        fleet.start(
            () -> {
              try {
                writer.downgrade();
                return true;
              } catch (io.mortise.LockException e) {
                return e;
              }
            });
    Waits.until(
        Fleet.LONG,
        "there was a reader's node",
        () -> fleet.nodes(fleet.path("doc")).stream().anyMatch(node -> node.contains("__READ__")));
    line.breakAndMend();
    Fleet.get(narrowing);
    writer.close();
    fleet.awaitNodes(fleet.path("doc"), 0);
  }
}
