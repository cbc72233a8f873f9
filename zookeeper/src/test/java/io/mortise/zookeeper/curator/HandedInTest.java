package io.mortise.zookeeper.curator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.StoreUnavailableException;
import io.mortise.spi.LockStore;
import io.mortise.testkit.Waits;
import io.mortise.testkit.server.Relay;
import io.mortise.zookeeper.ZooKeeperStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryForever;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Locks over a Curator client that an application has already. */
class HandedInTest {
  private static final Duration TICK = Duration.ofMillis(100);

  private final Fleet fleet = new Fleet();
  private final Relay line = fleet.closedLater(Relay.to(Fleet.server().port()));
  private final CuratorFramework theirs =
      fleet.closedLater(
          CuratorFrameworkFactory.builder()
              .connectString("127.0.0.1:" + line.port())
              .sessionTimeoutMs(20_000)
              .retryPolicy(new RetryForever(50))
              .namespace(fleet.path("apps").substring(1))
              .build());

  @AfterEach
  void closeFleet() throws Exception {
    fleet.close();
  }

  /** In the layout of Curator, where its own client would have it, or in ours. */
  private LockStore store(String layout) {
    if (theirs.getState() == org.apache.curator.framework.imps.CuratorFrameworkState.LATENT) {
      theirs.start();
    }
    return layout.equals("curator")
        ? CuratorStore.over(theirs, CuratorStore.Options.DEFAULT.withBase("/locks").withTick(TICK))
        : ZooKeeperStore.over(
            () -> theirs.getZookeeperClient().getZooKeeper(),
            ZooKeeperStore.Options.DEFAULT.withRoot(fleet.path("ours")).withTick(TICK));
  }

  private LockClient client(LockStore store) {
    return fleet.closedLater(LockClient.builder().store(store).ttl(Duration.ofSeconds(10)).build());
  }

  private ZooKeeper session() throws Exception {
    return theirs.getZookeeperClient().getZooKeeper();
  }

  /** Nodes of their session, ours among them. */
  private List<String> ephemerals() throws Exception {
    return session().getEphemerals(fleet.base());
  }

  @Test
  void givenCuratorClient_thenItsSessionHolds_itsNamespaceCounts_andItsOwnMutexIsKeptOut()
      throws Exception {
    LockStore store = store("curator");
    LockClient locks = client(store);
    Lease lease = locks.lock("job/a").acquireWithin(Fleet.LONG);
    String path = fleet.path("apps/locks/job/a");
    String node = path + "/" + fleet.nodes(path).get(0);
    assertThat(fleet.looking().checkExists().forPath(node).getEphemeralOwner())
        .isEqualTo(session().getSessionId());
    InterProcessMutex mutex = new InterProcessMutex(theirs, "/locks/job/a");
    assertThat(mutex.acquire(100, TimeUnit.MILLISECONDS)).isFalse();
    Future<Lease> waiting =
        fleet.start(() -> client(store).lock("job/a").acquireWithin(Fleet.LONG));
    fleet.awaitNodes(path, 2);
    lease.close();
    Fleet.get(waiting).close();
    assertThat(mutex.acquire(Fleet.LONG.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
    mutex.release();
    assertThat(fleet.nodes(path)).isEmpty();
    store.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"curator", "ours"})
  void givenHoldersAndWaiters_whenTheStoreIsClosed_thenNothingOfThemIsLeft_andTheClientGoesOn(
      String layout) throws Exception {
    LockStore store = store(layout);
    LockClient holding = LockClient.builder().store(store).ttl(Duration.ofSeconds(10)).build();
    LockClient waiting = LockClient.builder().store(store).ttl(Duration.ofSeconds(10)).build();
    Lease lease = holding.lock("a").acquireWithin(Fleet.LONG);
    Lease permits = holding.semaphore("pool", 3).permits(2).acquireWithin(Fleet.LONG);
    assertThat(lease.isValid() && permits.isValid()).isTrue();
    int before = ephemerals().size();
    CompletableFuture<Lease> lock = waiting.lock("a").acquireAsync(Fleet.LONG);
    CompletableFuture<Lease> more =
        waiting.semaphore("pool", 3).permits(2).acquireAsync(Fleet.LONG);
    Waits.until(
        Fleet.LONG,
        "both wait",
        () -> {
          try {
            return ephemerals().size() >= before + 2;
          } catch (Exception e) {
            throw new IllegalStateException(e);
          }
        });
    // As when an application ends in the middle of things: the store first.
    store.close();
    Waits.until(
        Fleet.LONG,
        "its own nodes were removed",
        () -> {
          try {
            return ephemerals().isEmpty();
          } catch (Exception e) {
            throw new IllegalStateException(e);
          }
        });
    Waits.until(
        Fleet.LONG,
        "no watch was left",
        () -> !Fleet.server().ask("wchp").contains(fleet.base() + "/"));
    assertThat(session().getState().isConnected()).isTrue();
    lock.cancel(true);
    more.cancel(true);
    holding.close();
    waiting.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"curator", "ours"})
  void givenNoConnection_whenTheStoreIsClosed_thenItsNodesAreRemovedOnceThereIsOne(String layout)
      throws Exception {
    LockStore store = store(layout);
    LockClient locks = client(store);
    assertThat(locks.lock("a").acquireWithin(Fleet.LONG).isValid()).isTrue();
    assertThat(ephemerals()).isNotEmpty();
    long session = session().getSessionId();

    line.cut();
    store.close();
    line.lead(Fleet.server().port());

    Waits.until(
        Fleet.LONG,
        "its own nodes were removed",
        () -> {
          try {
            return ephemerals().isEmpty();
          } catch (KeeperException.ConnectionLossException e) {
            return false;
          } catch (Exception e) {
            throw new IllegalStateException(e);
          }
        });
    assertThat(session().getSessionId()).as("the session lives on").isEqualTo(session);
  }

  @ParameterizedTest
  @ValueSource(strings = {"curator", "ours"})
  void givenSessionThatExpires_thenTheHolderIsTold_andTheNextHoldIsOfTheClientsNextSession(
      String layout) throws Exception {
    LockStore store = store(layout);
    LockClient locks = client(store);
    Lease lease = locks.lock("a").acquireWithin(Fleet.LONG);
    long first = session().getSessionId();
    fleet.expire(first, session().getSessionPasswd());
    Waits.until(Fleet.LONG, "the lease was lost", () -> lease.state() == Lease.State.LOST);
    assertThatThrownBy(lease::close).isInstanceOf(LeaseLostException.class);
    Lease next = locks.lock("a").acquireWithin(Fleet.LONG);
    assertThat(next.token()).isGreaterThan(lease.token());
    assertThat(session().getSessionId()).isNotEqualTo(first);
    next.close();
    store.close();
  }

  @Test
  void givenClientThatWasNotStarted_thenThatIsSaid() {
    assertThatThrownBy(
            () ->
                CuratorStore.over(
                    theirs, CuratorStore.Options.DEFAULT.withTimeout(Duration.ofMillis(300))))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("handed in");
  }
}
