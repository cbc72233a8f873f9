package io.mortise.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.LockName;
import io.mortise.admin.Eviction;
import io.mortise.admin.EvictionResult;
import io.mortise.admin.LockAdmin;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.spi.AttemptId;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.RerunIfPaused;
import io.mortise.testkit.SessionDriver;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testkit.server.FaultInjectionProxy.NetworkCondition;
import io.mortise.testserver.ZooKeeperServer;
import io.mortise.zookeeper.internal.node.NodeLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Processes that fall silent, with a TTL of two ticks: their ZooKeeper sessions last for 6.7 s. */
@SuppressWarnings("try") // Closing may be interrupted.
@RerunIfPaused
@Timeout(120)
class SilentSessionsTest {
  private static final Duration LONG = TestServer.LONG;
  private static final Duration TTL = Duration.ofSeconds(4);
  private static final Duration BOUND = TTL.plusSeconds(1);
  private static final AtomicInteger ROOTS = new AtomicInteger();

  private static ZooKeeperServer server;

  private final List<AutoCloseable> opened = new ArrayList<>();
  private FaultInjectionProxy line;
  private String root;

  @BeforeAll
  static void start() {
    server = ZooKeeperServer.start(TestServer.setup().with("tickTime", "2000"));
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @BeforeEach
  void begin() {
    line = FaultInjectionProxy.to(server.port());
    root = "/silent" + ROOTS.incrementAndGet();
  }

  @AfterEach
  void closeAll() throws Exception {
    line.condition(NetworkCondition.FAIR);
    for (AutoCloseable each : opened) {
      each.close();
    }
    opened.clear();
    line.close();
  }

  private <T extends AutoCloseable> T open(T closeable) {
    opened.add(closeable);
    return closeable;
  }

  private String url(int port) {
    return "zk://127.0.0.1:" + port + root + "?tick=2s&timeout=20s";
  }

  private LockClient client(int port) {
    return open(LockClient.builder().url(url(port)).ttl(TTL).build());
  }

  private void awaitWaiters(LockClient client, int count) {
    BoundedWait.until(
        LONG, "all wait", () -> client.admin().find("x").orElseThrow().waiters().size() == count);
  }

  /** The lease of a wait that has to be over within the bound. */
  private static Lease servedInTime(CompletableFuture<Lease> waiting) {
    long began = System.nanoTime();
    Lease lease = BoundedWait.join(waiting);
    assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThanOrEqualTo(BOUND);
    return lease;
  }

  @Test
  void
      givenWaiter_whenTheHolderIsKilled_thenTheLockIsFreeWithinASecondAfterItsTtl_andNotWhileItLived()
          throws Exception {
    LockClient other = client(server.port());
    try (FencedHolderProcess holder = holder()) {
      assertThat(holder.line()).isEqualTo(FencedHolderProcess.HOLDS);
      CompletableFuture<Lease> waiting = other.lock("x").acquireAsync();
      BoundedWait.pass(TTL.plus(TTL.dividedBy(2)));
      assertThat(waiting).isNotDone();
      holder.close();
      servedInTime(waiting).close();
    }
  }

  @Test
  void givenHolderThatIsPaused_whenItWakes_thenItIsToldOfItsLoss_andItsFencedWriteIsRefused()
      throws Exception {
    LockClient other = client(server.port());
    ZooKeeper client = open(TestServer.connect(server.address(), LONG));
    try (FencedHolderProcess holder = holder()) {
      assertThat(holder.line()).isEqualTo(FencedHolderProcess.HOLDS);
      CompletableFuture<Lease> waiting = other.lock("x").acquireAsync();
      awaitWaiters(other, 1);
      holder.pause();
      Lease next = servedInTime(waiting);
      FencedWrites writes = ZkFence.under(client, root + "-fence").enter(next);
      holder.resume();
      assertThat(holder.line()).isEqualTo(FencedHolderProcess.REFUSED);
      next.ensureValid();
      writes.setData(root + "-guarded", new byte[] {3}, -1);
      next.close();
    }
  }

  private FencedHolderProcess holder() throws Exception {
    try (ZooKeeper client = TestServer.connect(server.address(), LONG)) {
      for (String node : List.of(root + "-fence", root + "-guarded")) {
        client.create(node, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
      }
    }
    return new FencedHolderProcess(
        url(server.port()), TTL, server.address(), root + "-fence", root + "-guarded");
  }

  @Test
  void givenHolderAndWaiterThatAreCutOff_thenTheNextIsServed_andTheirLateRequestsChangeNothing()
      throws Exception {
    LockClient holder = client(line.port());
    LockClient dead = client(line.port());
    LockClient other = client(server.port());
    Lease lease = holder.lock("x").acquire();
    CompletableFuture<Lease> first = dead.lock("x").acquireAsync();
    awaitWaiters(other, 1);
    CompletableFuture<Lease> waiting = other.lock("x").acquireAsync();
    awaitWaiters(other, 2);
    line.condition(NetworkCondition.FROZEN);
    Lease next = servedInTime(waiting);
    assertThat(lease.isValid()).isFalse();
    line.condition(NetworkCondition.FAIR);
    awaitWaiters(other, 1);
    next.ensureValid();
    assertThat(first).isNotDone();
    long token = next.token();
    next.close();
    assertThat(BoundedWait.join(first).token()).isGreaterThan(token);
  }

  @Test
  void givenHolderAndManyWaitersThatDieTogether_thenTheNextIsServedInTime() throws Exception {
    client(line.port()).lock("x").acquire();
    LockClient other = client(server.port());
    for (int i = 1; i <= 5; i++) {
      var unused = client(line.port()).lock("x").acquireAsync();
      awaitWaiters(other, i);
    }
    CompletableFuture<Lease> waiting = other.lock("x").acquireAsync();
    awaitWaiters(other, 6);
    BoundedWait.pass(TTL.dividedBy(4));
    line.condition(NetworkCondition.FROZEN);
    servedInTime(waiting).close();
  }

  @Test
  void givenReadersThatAreCutOff_whenAWriterWaits_thenItIsServedInTime() throws Exception {
    for (int i = 0; i < 3; i++) {
      client(line.port()).readWriteLock("x").readLock().acquire();
    }
    LockClient other = client(server.port());
    CompletableFuture<Lease> waiting = other.readWriteLock("x").writeLock().acquireAsync();
    awaitWaiters(other, 1);
    line.condition(NetworkCondition.FROZEN);
    servedInTime(waiting).close();
  }

  @Test
  void givenHoldersOfPermitsThatAreCutOff_thenOneThatWantsAllIsServedInTime() throws Exception {
    for (int i = 0; i < 2; i++) {
      client(line.port()).semaphore("x", 2).acquire();
    }
    LockClient other = client(server.port());
    CompletableFuture<Lease> waiting = other.semaphore("x", 2).permits(2).acquireAsync();
    awaitWaiters(other, 1);
    line.condition(NetworkCondition.FROZEN);
    servedInTime(waiting).close();
  }

  /** Its node stays for as long as its ZooKeeper session. */
  @Test
  void givenHolderThatWasPassed_thenItIsNotShown_andItsLateReleaseEndsNoOther() throws Exception {
    LockClient holder = client(line.port());
    LockClient other = client(server.port());
    ZooKeeper client = open(TestServer.connect(server.address(), LONG));
    Lease lease = holder.lock("x").acquire();
    CompletableFuture<Lease> waiting = other.lock("x").acquireAsync();
    awaitWaiters(other, 1);
    line.condition(NetworkCondition.FROZEN);
    Lease next = servedInTime(waiting);
    LockInfo view = other.admin().find("x").orElseThrow();
    assertThat(client.getChildren(new NodeLayout(root).lock(LockName.of("x")), false)).hasSize(2);
    assertThat(view.holders()).singleElement().returns(next.token(), LockParticipant::token);
    assertThat(view.waiters()).isEmpty();
    CompletableFuture<Lease> third = client(server.port()).lock("x").acquireAsync();
    line.condition(NetworkCondition.FAIR);
    assertThatThrownBy(lease::close).isInstanceOf(LeaseLostException.class);
    next.ensureValid();
    assertThat(third).isNotDone();
    next.close();
    BoundedWait.join(third).close();
  }

  @Test
  void givenHandedInClientWithALongSession_whenItIsCutOff_thenWaitersPassIt_andATryDoesNot()
      throws Exception {
    ZooKeeper handedIn =
        open(TestServer.connect("127.0.0.1:" + line.port(), Duration.ofSeconds(30)));
    LockStore store = open(ZooKeeperStore.over(handedIn, ZooKeeperOptions.DEFAULT.withRoot(root)));
    LockClient holder = open(LockClient.builder().store(store).ttl(TTL).build());
    holder.lock("x").acquire();
    LockClient other = client(server.port());
    CompletableFuture<Lease> waiting = other.lock("x").acquireAsync();
    awaitWaiters(other, 1);
    line.condition(NetworkCondition.FROZEN);
    Lease next = servedInTime(waiting);
    LockAdmin admin = other.admin();
    LockParticipant shown = admin.find("x").orElseThrow().holders().get(0);
    assertThat(shown.token()).isEqualTo(next.token());
    assertThat(admin.evict("x", shown.attempt(), Eviction.BREAK))
        .isEqualTo(EvictionResult.HOLD_ENDED);
    // Somebody who does not wait meets the dead holder until its ZooKeeper session ends.
    assertThat(other.lock("x").tryAcquire()).isEmpty();
    assertThat(admin.find("x").orElseThrow().holders())
        .singleElement()
        .returns(null, LockParticipant::client);
    other.lock("x").acquireWithin(TTL.dividedBy(2)).close();
  }

  /** Without the renewals and polls of the waiter itself. */
  @Test
  void givenWaiter_thenItListsOnce_andReadsAfterEachRenewalOfTheHolder_andNothingOnceItHolds()
      throws Exception {
    try (PacketCounter packets = new PacketCounter(server.port());
        LockStore store = ZooKeeperStore.open(url(packets.port()))) {
      LockClient holder = client(server.port());
      Lease lease = holder.lock("x").acquire();
      SessionDriver waiter = SessionDriver.open(store, LONG, "waits");
      waiter.queued(LockName.of("x"), Mode.EXCLUSIVE);
      int before = packets.asked();
      BoundedWait.pass(TTL);
      assertThat(packets.asked() - before).isBetween(6, 8);
      lease.close();
      awaitWaiters(holder, 0);
      BoundedWait.pass(TTL.dividedBy(4));
      before = packets.asked();
      BoundedWait.pass(TTL.dividedBy(2));
      assertThat(packets.asked()).isEqualTo(before);
    }
  }

  /** One of its two nodes has gone before: it is told once. */
  @Test
  void givenEndedSessionWhoseNodeStays_thenItIsNotLookedAtAgainAndAgain() throws Exception {
    LockName lock = LockName.of("x");
    try (PacketCounter packets = new PacketCounter(server.port());
        LockStore silentStore = ZooKeeperStore.open(url(line.port()));
        LockStore store = ZooKeeperStore.open(url(packets.port()))) {
      SessionDriver silent = SessionDriver.open(silentStore, TTL, "silent");
      AttemptId first = silent.hold(lock, Mode.EXCLUSIVE).attempt();
      silent.queued(lock, Mode.EXCLUSIVE);
      SessionDriver waiter = SessionDriver.open(store, LONG, "waits");
      waiter.queued(lock, Mode.EXCLUSIVE);
      waiter.queued(lock, Mode.EXCLUSIVE);
      BoundedWait.pass(TTL.dividedBy(2));
      silent.end(lock, first);
      line.condition(NetworkCondition.FROZEN);
      waiter.hints().await(1);
      int before = packets.asked();
      BoundedWait.pass(TTL.dividedBy(4));
      assertThat(packets.asked() - before).isLessThan(20);
      line.condition(NetworkCondition.FAIR);
    }
  }

  /** Its contenders count from the last write, its engine from the last request. */
  @Test
  void givenRenewalWhoseAnswerIsLost_whenItIsRepeated_thenItIsWrittenOnceMore() throws Exception {
    LockStore store = open(ZooKeeperStore.open(url(line.port())));
    ZooKeeper client = open(TestServer.connect(server.address(), LONG));
    SessionDriver session = SessionDriver.open(store, LONG, "repeats");
    String node = new NodeLayout(root).session(session.id());
    assertThat(version(client, node)).isZero();
    line.condition(NetworkCondition.MUTE);
    var unused = session.session().renew(session.beat(), session.beat() + 1, List.of());
    BoundedWait.until(LONG, "the write", () -> version(client, node) == 1);
    line.condition(NetworkCondition.FAIR);
    BoundedWait.until(
        LONG,
        "a new connection",
        () ->
            session.acquire(LockName.of("x"), session.attempt(), Mode.EXCLUSIVE)
                instanceof Reply.Granted);
    assertThat(session.renew()).isInstanceOf(Renewal.Renewed.class);
    assertThat(version(client, node)).isEqualTo(2);
  }

  private static int version(ZooKeeper client, String node) {
    try {
      return client.exists(node, false).getVersion();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }
}
