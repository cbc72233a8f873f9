package io.mortise.curator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.StoreUnavailableException;
import io.mortise.spi.LockStore;
import io.mortise.spi.Renewal;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.SessionDriver;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testkit.server.FaultInjectionProxy.NetworkCondition;
import io.mortise.zookeeper.ZooKeeperOptions;
import io.mortise.zookeeper.ZooKeeperStore;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryForever;
import org.apache.zookeeper.AsyncCallback.Create2Callback;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Locks over a Curator client of the application. */
class SharedClientTest {
  private static final Duration TICK = Duration.ofMillis(100);
  private static final Duration TTL = Duration.ofSeconds(30);

  private final MixedFleet mixedFleet = new MixedFleet();
  private final FaultInjectionProxy line =
      mixedFleet.closedLater(FaultInjectionProxy.to(MixedFleet.server().port()));
  private final CuratorFramework theirs =
      mixedFleet.closedLater(
          CuratorFrameworkFactory.builder()
              .connectString("127.0.0.1:" + line.port())
              .sessionTimeoutMs(60_000)
              .retryPolicy(new RetryForever(50))
              .namespace(mixedFleet.path("apps").substring(1))
              .build());

  @AfterEach
  void closeFleet() throws Exception {
    mixedFleet.close();
  }

  /** In Curator's layout, on the paths of its own client, or in ours. */
  private LockStore store(String layout) {
    return store(layout, TICK);
  }

  private LockStore store(String layout, Duration tick) {
    if (theirs.getState() == org.apache.curator.framework.imps.CuratorFrameworkState.LATENT) {
      theirs.start();
    }
    return layout.equals("curator")
        ? CuratorStore.over(theirs, CuratorOptions.DEFAULT.withBase("/locks").withTick(tick))
        : over(layout, tick, this::session);
  }

  private LockStore over(String layout, Duration tick, Callable<ZooKeeper> clients) {
    return layout.equals("curator")
        ? CuratorStore.over(clients, CuratorOptions.DEFAULT.withTick(tick))
        : ZooKeeperStore.over(
            clients, ZooKeeperOptions.DEFAULT.withRoot(mixedFleet.path("ours")).withTick(tick));
  }

  private LockClient client(LockStore store) {
    return mixedFleet.closedLater(LockClient.builder().store(store).ttl(TTL).build());
  }

  private ZooKeeper session() throws Exception {
    return theirs.getZookeeperClient().getZooKeeper();
  }

  /** Nodes of their session, ours among them. */
  private List<String> ephemerals() throws Exception {
    return session().getEphemerals(mixedFleet.base());
  }

  /** The same, or a failure if there is no answer just now. */
  private List<String> mayHaveLeft() {
    try {
      return ephemerals();
    } catch (KeeperException.ConnectionLossException e) {
      return List.of("no answer");
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private void awaitNothingLeft() {
    BoundedWait.until(MixedFleet.LONG, "its own nodes were removed", () -> mayHaveLeft().isEmpty());
  }

  /** The nodes that a session watches, without Curator's own watches. */
  private static List<String> watched(ZooKeeper session) {
    List<String> found = new ArrayList<>();
    boolean its = false;
    for (String line : MixedFleet.server().ask("wchc").lines().toList()) {
      if (!line.startsWith("\t")) {
        its = line.equals("0x" + Long.toHexString(session.getSessionId()));
      } else if (its && !line.startsWith("\t/zookeeper/")) {
        found.add(line.strip());
      }
    }
    return found;
  }

  @Test
  void givenCuratorClient_thenItsSessionHolds_itsNamespaceCounts_andItsOwnMutexIsKeptOut()
      throws Exception {
    LockStore store = store("curator");
    LockClient locks = client(store);
    Lease lease = locks.lock("job/a").acquireWithin(MixedFleet.LONG);
    String path = mixedFleet.path("apps/locks/job/a");
    String node = path + "/" + mixedFleet.nodes(path).get(0);
    assertThat(mixedFleet.looking().checkExists().forPath(node).getEphemeralOwner())
        .isEqualTo(session().getSessionId());
    InterProcessMutex mutex = new InterProcessMutex(theirs, "/locks/job/a");
    assertThat(mutex.acquire(100, TimeUnit.MILLISECONDS)).isFalse();
    Future<Lease> waiting =
        mixedFleet.start(() -> client(store).lock("job/a").acquireWithin(MixedFleet.LONG));
    mixedFleet.awaitNodes(path, 2);
    lease.close();
    MixedFleet.get(waiting).close();
    assertThat(mutex.acquire(MixedFleet.LONG.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
    mutex.release();
    assertThat(mixedFleet.nodes(path)).isEmpty();
    store.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"curator", "ours"})
  void givenHoldersAndWaiters_whenTheStoreIsClosed_thenNothingOfThemIsLeft_andTheClientGoesOn(
      String layout) throws Exception {
    LockStore store = store(layout);
    LockClient holding = LockClient.builder().store(store).ttl(TTL).build();
    LockClient waiting = LockClient.builder().store(store).ttl(TTL).build();
    Lease lease = holding.lock("a").acquireWithin(MixedFleet.LONG);
    Lease permits = holding.semaphore("pool", 3).permits(2).acquireWithin(MixedFleet.LONG);
    assertThat(lease.isValid() && permits.isValid()).isTrue();
    int before = ephemerals().size();
    CompletableFuture<Lease> lock = waiting.lock("a").acquireAsync(MixedFleet.LONG);
    CompletableFuture<Lease> more =
        waiting.semaphore("pool", 3).permits(2).acquireAsync(MixedFleet.LONG);
    BoundedWait.until(MixedFleet.LONG, "both wait", () -> mayHaveLeft().size() >= before + 2);
    // As when an application ends in the middle of its work: the store first.
    store.close();
    awaitNothingLeft();
    ZooKeeper session = session();
    BoundedWait.until(MixedFleet.LONG, "no watch was left", () -> watched(session).isEmpty());
    assertThat(session().getState().isConnected()).isTrue();
    lock.cancel(true);
    more.cancel(true);
    holding.close();
    waiting.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"curator", "ours"})
  void givenSourceOfClientsThatFailsWithAnError_thenTheNextTryIsServed(String layout)
      throws Exception {
    theirs.start();
    AtomicInteger asked = new AtomicInteger();
    LockStore store =
        over(
            layout,
            TICK,
            () -> {
              // The first client is for the store itself, the second for a session.
              if (asked.incrementAndGet() == 2) {
                throw new LinkageError("for a test");
              }
              return session();
            });
    LockClient client = client(store);
    client.lock("a").acquireWithin(MixedFleet.LONG).close();
    client.close();
    store.close();
    assertThat(asked).hasValueGreaterThanOrEqualTo(3);
  }

  /** The holder that a note is left for reads and removes it; but not if it ends just then. */
  @Test
  void givenNoteThatIsOnItsWay_whenTheStoreIsClosed_thenItIsNotLeftEither() throws Exception {
    ZooKeeper client = mixedFleet.closedLater(new DeafClient());
    LockStore store =
        ZooKeeperStore.over(
            () -> client,
            ZooKeeperOptions.DEFAULT.withRoot(mixedFleet.path("ours")).withTick(TICK));
    LockClient holding = client(store);
    LockClient waiting = client(store);
    assertThat(holding.lock("a").acquireWithin(MixedFleet.LONG).isValid()).isTrue();
    String holder = mixedFleet.nodes(mixedFleet.path("ours/sessions")).get(0);
    String notes = mixedFleet.path("ours/notes/" + holder);
    mixedFleet
        .looking()
        .create()
        .creatingParentContainersIfNeeded()
        .withMode(CreateMode.CONTAINER)
        .forPath(notes);

    CompletableFuture<Lease> lock = waiting.lock("a").acquireAsync(MixedFleet.LONG);
    mixedFleet.awaitNodes(notes, 1);
    store.close();
    line.condition(NetworkCondition.FAIR);

    BoundedWait.until(
        MixedFleet.LONG,
        "its own nodes were removed",
        () ->
            mixedFleet.nodes(notes).isEmpty()
                && mixedFleet.nodes(mixedFleet.path("ours/locks/a")).isEmpty()
                && mixedFleet.nodes(mixedFleet.path("ours/sessions")).isEmpty());
    assertThat(client.getEphemerals()).isEmpty();
    lock.cancel(true);
  }

  /** A client that gets no answers any more once it has sent the creation of a note. */
  @SuppressWarnings("try") // Closing may be interrupted.
  private final class DeafClient extends ZooKeeper {
    DeafClient() throws IOException {
      super("127.0.0.1:" + line.port(), 60_000, event -> {});
    }

    @Override
    public void create(
        String path,
        byte[] data,
        List<ACL> acl,
        CreateMode mode,
        Create2Callback callback,
        Object context) {
      if (mode == CreateMode.EPHEMERAL && path.contains("/notes/")) {
        line.condition(NetworkCondition.ANSWERS_HELD);
      }
      super.create(path, data, acl, mode, callback, context);
    }
  }

  /**
   * The holder may never be told, and the waiter would leave its note for as long as its client
   * lives.
   */
  @Test
  void givenHolderThatDoesNotReadItsNotes_whenTheWaitersStoreIsClosed_thenNoNoteIsLeft()
      throws Exception {
    FaultInjectionProxy away =
        mixedFleet.closedLater(FaultInjectionProxy.to(MixedFleet.server().port()));
    LockClient holder =
        mixedFleet.closedLater(
            LockClient.builder()
                .url("zk://127.0.0.1:" + away.port() + mixedFleet.path("ours") + "?tick=100ms")
                .ttl(MixedFleet.TTL)
                .build());
    Lease lease = holder.lock("a").acquireWithin(MixedFleet.LONG);
    away.condition(NetworkCondition.ANSWERS_HELD);
    LockStore store = store("ours");
    CompletableFuture<Lease> lock = client(store).lock("a").acquireAsync(MixedFleet.LONG);
    BoundedWait.until(
        MixedFleet.LONG,
        "it left a note",
        () -> mayHaveLeft().stream().anyMatch(node -> node.contains("/notes/")));
    store.close();
    awaitNothingLeft();
    assertThat(session().getState().isConnected()).isTrue();
    lock.cancel(true);
    away.condition(NetworkCondition.FAIR);
    lease.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"curator", "ours"})
  void givenNoConnection_whenTheStoreIsClosed_thenItsNodesAreRemovedOnceThereIsOne(String layout)
      throws Exception {
    LockStore store = store(layout);
    LockClient locks = client(store);
    assertThat(locks.lock("a").acquireWithin(MixedFleet.LONG).isValid()).isTrue();
    assertThat(ephemerals()).isNotEmpty();
    long session = session().getSessionId();

    line.cut();
    store.close();
    line.lead(MixedFleet.server().port());

    awaitNothingLeft();
    assertThat(session().getSessionId()).as("the session lives on").isEqualTo(session);
  }

  @ParameterizedTest
  @ValueSource(strings = {"curator", "ours"})
  void givenSessionThatExpires_thenTheHolderIsTold_andTheNextHoldIsOfTheClientsNextSession(
      String layout) throws Exception {
    LockStore store = store(layout);
    LockClient locks = client(store);
    Lease lease = locks.lock("a").acquireWithin(MixedFleet.LONG);
    long token = lease.token();
    long first = session().getSessionId();
    mixedFleet.expire(first, session().getSessionPasswd());
    BoundedWait.until(
        MixedFleet.LONG, "the lease was lost", () -> lease.state() == Lease.State.LOST);
    assertThatThrownBy(lease::close).isInstanceOf(LeaseLostException.class);
    Lease next = locks.lock("a").acquireWithin(MixedFleet.LONG);
    assertThat(next.token()).isGreaterThan(token);
    assertThat(session().getSessionId()).isNotEqualTo(first);
    next.close();
    store.close();
  }

  /**
   * The tick of a client that is handed in is assumed to be 2 s: a sixth of these TTLs is shorter.
   */
  @ParameterizedTest
  @ValueSource(ints = {5, 8, 11})
  void givenSessionLongerThanTheTtl_whenRenewalsAreRepeatedBeforeTheyAreProven_thenTheLeaseStands(
      int seconds) throws Exception {
    theirs.start();
    Duration ttl = Duration.ofSeconds(seconds);
    LockStore store =
        mixedFleet.closedLater(
            CuratorStore.over(theirs, CuratorOptions.DEFAULT.withBase("/locks")));
    LockClient locks = mixedFleet.closedLater(LockClient.builder().store(store).ttl(ttl).build());
    Lease lease = locks.lock("a").acquireWithin(MixedFleet.LONG);
    long granted = System.nanoTime();

    BoundedWait.until(
        MixedFleet.LONG,
        "the lease was lost, or renewed more than once",
        () ->
            lease.state() == Lease.State.LOST
                || System.nanoTime() + lease.remaining().toNanos() - granted
                    > ttl.multipliedBy(3).dividedBy(2).toNanos());

    assertThat(lease.state()).isEqualTo(Lease.State.HELD);
    lease.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"curator", "ours"})
  void givenTwoTriesOfARenewal_whenTheNextIsProvenBeforeTheSecondOfThem_thenNoneIsLost(
      String layout) {
    SessionDriver a = SessionDriver.prepare(store(layout, Duration.ofSeconds(2)), TTL, "a");
    CompletableFuture<Renewal> first = renew(a, 0, 7);
    BoundedWait.pass(Duration.ofMillis(200));
    CompletableFuture<Renewal> second = renew(a, 0, 7);
    assertThat(BoundedWait.join(first)).isInstanceOf(Renewal.Renewed.class);
    assertThat(BoundedWait.join(renew(a, 7, 8))).isInstanceOf(Renewal.Renewed.class);
    assertThat(BoundedWait.join(second)).isInstanceOf(Renewal.Renewed.class);
    assertThat(BoundedWait.join(renew(a, 8, 9))).isInstanceOf(Renewal.Renewed.class);
    a.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"curator", "ours"})
  void givenNoClientForASession_thenItsRenewalHasNoAnswer_andTheNextOneOpensIt(String layout) {
    theirs.start();
    AtomicInteger asked = new AtomicInteger();
    Callable<ZooKeeper> clients =
        () -> {
          // The store itself has the first one.
          if (asked.incrementAndGet() == 2) {
            throw new IllegalStateException("not now");
          }
          return session();
        };
    LockStore store = mixedFleet.closedLater(over(layout, TICK, clients));
    SessionDriver a = SessionDriver.prepare(store, TTL, "a");
    assertThat(BoundedWait.join(renew(a, 0, 7))).isInstanceOf(Renewal.Unknown.class);
    assertThat(BoundedWait.join(renew(a, 0, 7))).isInstanceOf(Renewal.Renewed.class);
    a.close();
    assertThat(BoundedWait.join(renew(a, 7, 8))).isInstanceOf(Renewal.Lost.class);
  }

  private static CompletableFuture<Renewal> renew(SessionDriver session, long from, long to) {
    return session.session().renew(from, to, List.of()).toCompletableFuture();
  }

  @Test
  void givenClientThatWasNotStarted_thenThatIsSaid() {
    assertThatThrownBy(
            () ->
                CuratorStore.over(
                    theirs, CuratorOptions.DEFAULT.withTimeout(Duration.ofMillis(300))))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("handed in");
  }
}
