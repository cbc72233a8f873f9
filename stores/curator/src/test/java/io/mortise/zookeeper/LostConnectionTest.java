package io.mortise.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.DistributedLock;
import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.LockException;
import io.mortise.StoreUnavailableException;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testkit.server.FaultInjectionProxy.NetworkCondition;
import io.mortise.verification.log.RecordedLog;
import io.mortise.zookeeper.internal.ZooKeeperConnection;
import io.mortise.zookeeper.internal.node.NodeLayout;
import io.mortise.zookeeper.internal.node.TokenEpoch;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A connection is lost: with the answer to an executed request, for less than the session lives, or
 * for longer; and messages of the server, or ours, are delayed.
 */
@Execution(ExecutionMode.CONCURRENT)
@Timeout(120)
class LostConnectionTest {
  private static final Duration LONG = TestServer.LONG;
  private static final Duration KEPT = Duration.ofSeconds(20);
  private static final Duration MORTAL = Duration.ofSeconds(5);
  private static final AtomicInteger ROOTS = new AtomicInteger();

  private static ZooKeeper looking;

  private final String root = "/lost" + ROOTS.incrementAndGet();
  private final List<AutoCloseable> open = new ArrayList<>();
  private final ExecutorService threads = Executors.newCachedThreadPool();

  /** A server that removes no container between two uses. */
  private final FaultInjectionProxy line =
      FaultInjectionProxy.to(ZooKeeperUnderTest.server().port());

  @BeforeAll
  static void connect() throws Exception {
    looking = TestServer.connect(ZooKeeperUnderTest.server().address(), Duration.ofMinutes(2));
  }

  @AfterAll
  static void disconnect() throws Exception {
    looking.close();
  }

  @AfterEach
  void closeAll() throws Exception {
    line.condition(NetworkCondition.FAIR);
    threads.shutdownNow();
    for (int i = open.size() - 1; i >= 0; i--) {
      open.get(i).close();
    }
    line.close();
  }

  /** A client whose session and directories exist. */
  private LockClient client(Scheme scheme, String servers, Duration ttl) throws Exception {
    LockClient client = LockClient.builder().url(scheme.url(servers, root)).ttl(ttl).build();
    open.add(client);
    client.lock("a").acquireWithin(LONG).close();
    client.semaphore("pool", 3).permits(1).acquireWithin(LONG).close();
    return client;
  }

  private LockClient behindTheLine(Scheme scheme, Duration ttl) throws Exception {
    return client(scheme, "127.0.0.1:" + line.port(), ttl);
  }

  private LockClient neighbour(Scheme scheme) throws Exception {
    return client(scheme, ZooKeeperUnderTest.server().address(), KEPT);
  }

  private <T> Future<T> start(Callable<T> task) {
    return threads.submit(task);
  }

  private static <T> T get(Future<T> future) throws Exception {
    return future.get(LONG.toMillis(), TimeUnit.MILLISECONDS);
  }

  private List<String> nodes(Scheme scheme, String lock) {
    try {
      return scheme.nodes(looking, root, lock);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private void awaitNodes(Scheme scheme, String lock, int count) {
    BoundedWait.until(
        LONG, lock + " had " + count + " nodes", () -> nodes(scheme, lock).size() == count);
  }

  // ---- The answer is lost, the session kept ----

  @ParameterizedTest
  @EnumSource
  void givenNodeWhoseCreationWasNotAnswered_thenItIsFoundAgain_andThereIsOneOnly(Scheme scheme)
      throws Exception {
    DistributedLock lock = behindTheLine(scheme, KEPT).lock("a");
    line.condition(NetworkCondition.MUTE);
    Future<Lease> acquiring = start(() -> lock.acquireWithin(LONG));
    awaitNodes(scheme, "a", 1);
    assertThat(acquiring).isNotDone();
    line.condition(NetworkCondition.FAIR);

    Lease lease = get(acquiring);

    List<String> nodes = nodes(scheme, "a");
    assertThat(nodes).hasSize(1);
    long czxid = looking.exists(nodes.get(0), false).getCzxid();
    Stat epoch = looking.exists(new NodeLayout(root).epoch(), false);
    long base = scheme == Scheme.ZK ? TokenEpoch.base(epoch) : 0;
    assertThat(lease.token()).isEqualTo((base + czxid) << 16);
    lease.close();
    awaitNodes(scheme, "a", 0);
  }

  @ParameterizedTest
  @EnumSource
  void givenWaitThatEndsInDoubt_thenNoNodeIsLeft(Scheme scheme) throws Exception {
    DistributedLock lock = behindTheLine(scheme, KEPT).lock("a");
    line.condition(NetworkCondition.MUTE);
    Future<Object> trying =
        start(
            () -> {
              try {
                return lock.tryAcquire(Duration.ofSeconds(2));
              } catch (StoreUnavailableException e) {
                return e;
              }
            });
    awaitNodes(scheme, "a", 1);
    assertThat(get(trying)).isNotNull();
    line.condition(NetworkCondition.FAIR);
    awaitNodes(scheme, "a", 0);
    lock.acquireWithin(LONG).close();
  }

  @ParameterizedTest
  @EnumSource
  void givenReleaseThatWasNotAnswered_thenItIsKnownToBeDone(Scheme scheme) throws Exception {
    DistributedLock lock = behindTheLine(scheme, KEPT).lock("a");
    Lease lease = lock.acquireWithin(LONG);
    line.condition(NetworkCondition.MUTE);
    CompletableFuture<Void> released = lease.releaseAsync();
    awaitNodes(scheme, "a", 0);
    line.condition(NetworkCondition.FAIR);
    assertThat(released).succeedsWithin(LONG);
    lock.acquireWithin(LONG).close();
  }

  @ParameterizedTest
  @EnumSource
  void givenPermitsWhoseGrantWasNotAnswered_thenTheyAreFoundAgain_andAreNoMoreThanAskedFor(
      Scheme scheme) throws Exception {
    DistributedLock two = behindTheLine(scheme, KEPT).semaphore("pool", 3).permits(2);
    line.condition(NetworkCondition.MUTE);
    Future<Lease> acquiring = start(() -> two.acquireWithin(LONG));
    awaitNodes(scheme, "pool", 1);
    line.condition(NetworkCondition.FAIR);
    Lease lease = get(acquiring);
    // One node with its weight there, one per permit here.
    int nodes = scheme == Scheme.ZK ? 1 : 2;
    assertThat(nodes(scheme, "pool")).hasSize(nodes);
    assertThat(neighbour(scheme).semaphore("pool", 3).permits(2).tryAcquire()).isEmpty();
    line.condition(NetworkCondition.MUTE);
    CompletableFuture<Void> released = lease.releaseAsync();
    awaitNodes(scheme, "pool", 0);
    line.condition(NetworkCondition.FAIR);
    assertThat(released).succeedsWithin(LONG);
  }

  @ParameterizedTest
  @EnumSource(names = "CURATOR")
  void givenDowngradeThatWasNotAnswered_thenTheHoldIsReleasedAllTheSame(Scheme scheme)
      throws Exception {
    Lease writer = behindTheLine(scheme, KEPT).readWriteLock("a").writeLock().acquireWithin(LONG);
    line.condition(NetworkCondition.MUTE);
    Future<Object> narrowing =
        start(
            () -> {
              try {
                writer.downgrade();
                return true;
              } catch (LockException e) {
                return e;
              }
            });
    BoundedWait.until(
        LONG,
        "there was a reader's node",
        () -> nodes(scheme, "a").stream().anyMatch(node -> node.contains("__READ__")));
    line.condition(NetworkCondition.FAIR);
    get(narrowing);
    writer.close();
    awaitNodes(scheme, "a", 0);
  }

  @ParameterizedTest
  @EnumSource
  void givenHolderAndWaiter_whenTheirConnectionsBreakOneAfterTheOther_thenBothStandWhereTheyStood(
      Scheme scheme) throws Exception {
    LockClient first = behindTheLine(scheme, KEPT);
    LockClient second = behindTheLine(scheme, KEPT);
    Lease held = first.lock("a").acquireWithin(LONG);
    Future<Lease> waiting = start(() -> second.lock("a").acquireWithin(LONG));
    awaitNodes(scheme, "a", 2);
    List<String> before = nodes(scheme, "a");
    for (int i = 0; i < 2; i++) {
      line.reset();
      first.lock("other" + i).acquireWithin(LONG).close();
      second.lock("other" + i).acquireWithin(LONG).close();
    }
    assertThat(held.isValid()).isTrue();
    assertThat(waiting).isNotDone();
    assertThat(nodes(scheme, "a")).containsExactlyInAnyOrderElementsOf(before);
    long token = held.token();
    held.close();
    Lease next = get(waiting);
    assertThat(next.token()).isGreaterThan(token);
    next.close();
    awaitNodes(scheme, "a", 0);
  }

  @ParameterizedTest
  @EnumSource
  void givenNodeThatIsFoundAgain_whenItBelongsToAnotherSession_thenItIsNotBelieved(Scheme scheme)
      throws Exception {
    DistributedLock lock = behindTheLine(scheme, KEPT).lock("a");
    line.condition(NetworkCondition.MUTE);
    Future<Lease> acquiring = start(() -> lock.acquireWithin(LONG));
    awaitNodes(scheme, "a", 1);
    String node = nodes(scheme, "a").get(0);
    byte[] data = looking.getData(node, false, null);
    // Another client makes the same node, equal in all but its session.
    looking.delete(node, -1);
    looking.create(node, data, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
    line.condition(NetworkCondition.FAIR);
    awaitNodes(scheme, "a", 2);
    assertThat(acquiring).isNotDone();
    looking.delete(node, -1);
    Lease lease = get(acquiring);
    assertThat(lease.token()).isGreaterThan(0);
    lease.close();
    awaitNodes(scheme, "a", 0);
  }

  @ParameterizedTest
  @EnumSource
  void givenHolder_whenItsConnectionBreaks_thenTheLogSaysSoAtOnce_andWhenItIsBack(Scheme scheme)
      throws Exception {
    Lease held = behindTheLine(scheme, KEPT).lock("a").acquireWithin(LONG);
    line.reset();
    awaitLine("WARN SessionLog: The connection to store zk");
    awaitLine("INFO SessionLog: Store zk");
    List<String> logged = RecordedLog.sessionLinesWith(":" + line.port());
    assertThat(logged.get(0))
        .contains(" broke: " + ZooKeeperConnection.LOST + ". Leases of session ")
        .matches(".*: 1; the first is lost in [0-9]+s unless the store answers\\.");
    assertThat(logged.get(1)).contains(" answers renewals again after ").endsWith("kept: 1.");
    assertThat(logged).as("once per outage").hasSize(2);
    assertThat(held.isValid()).isTrue();
  }

  private void awaitLine(String beginning) {
    BoundedWait.until(
        LONG,
        "there was a line '" + beginning + "'",
        () ->
            RecordedLog.sessionLinesWith(":" + line.port()).stream()
                .anyMatch(logged -> logged.startsWith(beginning)));
  }

  // ---- The session is lost ----

  @ParameterizedTest
  @EnumSource
  void givenHolderAndWaiterThatAreCutOffForTooLong_thenTheHolderIsTold_andTheWaiterWaitsOnAnew(
      Scheme scheme) throws Exception {
    LockClient cut = behindTheLine(scheme, MORTAL);
    LockClient other = neighbour(scheme);
    Lease others = other.lock("a").acquireWithin(LONG);
    Lease lost = cut.lock("mine").acquireWithin(LONG);
    Future<Lease> waiting = start(() -> cut.lock("a").acquireWithin(LONG));
    awaitNodes(scheme, "a", 2);

    line.condition(NetworkCondition.FROZEN);
    Lease next = other.lock("mine").acquireWithin(LONG);
    assertThat(lost.isValid()).as("when another was granted").isFalse();
    awaitNodes(scheme, "a", 1);
    line.condition(NetworkCondition.FAIR);

    awaitNodes(scheme, "a", 2);
    others.close();
    Lease again = get(waiting);
    assertThat(again.isValid()).isTrue();
    assertThatThrownBy(lost::close).isInstanceOf(LeaseLostException.class);
    assertThat(cut.lock("mine").tryAcquire()).isEmpty();
    again.close();
    next.close();
    awaitNodes(scheme, "a", 0);
    awaitNodes(scheme, "mine", 0);
  }

  @ParameterizedTest
  @EnumSource
  void givenRequestsThatAreHeldUpOnTheWay_whenAnotherIsGranted_thenTheHolderHadStoppedToBelieve(
      Scheme scheme) throws Exception {
    heldUp(scheme, NetworkCondition.REQUESTS_HELD);
  }

  @ParameterizedTest
  @EnumSource
  void givenAnswersThatAreHeldUpOnTheWay_whenAnotherIsGranted_thenTheHolderHadStoppedToBelieve(
      Scheme scheme) throws Exception {
    heldUp(scheme, NetworkCondition.ANSWERS_HELD);
  }

  private void heldUp(Scheme scheme, NetworkCondition networkCondition) throws Exception {
    LockClient other = neighbour(scheme);
    Lease held = behindTheLine(scheme, MORTAL).lock("a").acquireWithin(LONG);
    CompletableFuture<Boolean> told = new CompletableFuture<>();
    held.onLost(lost -> told.complete(true));
    line.condition(networkCondition);
    Lease next = other.lock("a").acquireWithin(LONG);
    assertThat(held.isValid()).as("when another was granted").isFalse();
    assertThat(told).succeedsWithin(LONG);
    // Delayed messages arrive, and change nothing.
    line.condition(NetworkCondition.FAIR);
    assertThatThrownBy(held::close).isInstanceOf(LeaseLostException.class);
    assertThat(next.isValid()).isTrue();
    // A node that was passed goes with its ZooKeeper session.
    awaitNodes(scheme, "a", 1);
    next.close();
    awaitNodes(scheme, "a", 0);
  }

  @ParameterizedTest
  @EnumSource
  void givenHeartbeatsThatComeLateAgainAndAgain_thenTheHolderHolds(Scheme scheme) throws Exception {
    Duration ttl = Duration.ofSeconds(9);
    Lease held = behindTheLine(scheme, ttl).lock("a").acquireWithin(LONG);
    List<String> nodes = nodes(scheme, "a");
    for (int i = 0; i < 6; i++) {
      line.condition(i % 2 == 0 ? NetworkCondition.REQUESTS_HELD : NetworkCondition.ANSWERS_HELD);
      BoundedWait.pass(Duration.ofMillis(400));
      line.condition(NetworkCondition.FAIR);
      BoundedWait.pass(Duration.ofMillis(50));
    }
    assertThat(held.state()).isNotEqualTo(Lease.State.LOST);
    assertThat(nodes(scheme, "a")).isEqualTo(nodes);
    held.close();
    awaitNodes(scheme, "a", 0);
  }
}
