package io.mortise.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockName;
import io.mortise.spi.Mode;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testkit.server.FaultInjectionProxy.NetworkCondition;
import io.mortise.testserver.ZooKeeperServer;
import io.mortise.zookeeper.internal.node.LockQueue;
import io.mortise.zookeeper.internal.node.NodeLayout;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The first waiter holds when the removal of the holder's node is reported, and not otherwise. */
@SuppressWarnings("try") // Closing may be interrupted.
@Timeout(120)
class HandoffTest {
  private static final Duration LONG = TestServer.LONG;

  private final ZooKeeperServer server = ZooKeeperUnderTest.server();
  private final NodeLayout nodeLayout = new NodeLayout("/hand-off-" + System.nanoTime());
  private final String lock = nodeLayout.lock(LockName.of("x"));
  private final FaultInjectionProxy line = FaultInjectionProxy.to(server.port());

  private PacketCounter packetCounter;
  private ZooKeeper looking;
  private LockClient holder;
  private LockClient waiter;
  private LockClient third;
  private Lease held;
  private CompletableFuture<Lease> waiting;

  /** The holder has been told, so the waiter has read the queue and its own node. */
  @BeforeEach
  void waitInLine() throws Exception {
    looking = TestServer.connect(server.address(), Duration.ofMinutes(2));
    holder = client(server.address());
    packetCounter = new PacketCounter(server.port());
    third = client("127.0.0.1:" + packetCounter.port());
    waiter = client("127.0.0.1:" + line.port());
    held = holder.lock("x").acquireWithin(LONG);
    waiting = waiter.lock("x").acquireAsync(LONG);
    BoundedWait.until(LONG, "the holder has read its note", this::isNoteRead);
  }

  @AfterEach
  void closeAll() throws Exception {
    line.condition(NetworkCondition.FAIR);
    waiter.close();
    third.close();
    holder.close();
    packetCounter.close();
    line.close();
    looking.close();
  }

  private LockClient client(String servers) {
    return LockClient.builder()
        .url(Scheme.ZK.url(servers, nodeLayout.root()))
        // No renewal happens during a test.
        .ttl(Duration.ofMinutes(20))
        .build();
  }

  private boolean isNoteRead() {
    try {
      for (String session : looking.getChildren(nodeLayout.allNotes(), false)) {
        // One was made, and none is left.
        if (looking.exists(nodeLayout.allNotes() + "/" + session, false).getCversion() == 2) {
          return true;
        }
      }
      return false;
    } catch (KeeperException e) {
      return false;
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private CompletableFuture<Lease> waitAsThird() {
    CompletableFuture<Lease> next = third.lock("x").acquireAsync(LONG);
    BoundedWait.until(LONG, "three stand in the queue", () -> count() == 3);
    return next;
  }

  private int count() {
    try {
      return looking.getChildren(lock, false).size();
    } catch (KeeperException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private String waitersNode() {
    return lock + "/" + LockQueue.node(Mode.SHARERS, 1);
  }

  private void removeTheWaitersNode() throws Exception {
    looking.delete(waitersNode(), -1);
  }

  private long watchersOfTheWaiter() {
    return server
        .ask("wchp")
        .lines()
        .dropWhile(line -> !line.equals(waitersNode()))
        .skip(1)
        .takeWhile(line -> line.startsWith("\t"))
        .count();
  }

  private static Lease get(CompletableFuture<Lease> lease) throws Exception {
    return lease.get(LONG.toMillis(), TimeUnit.MILLISECONDS);
  }

  @Test
  void givenFirstWaiter_whenTheHolderGivesBack_thenItHoldsWithoutAskingTheServer()
      throws Exception {
    line.condition(NetworkCondition.REQUESTS_HELD);

    held.close();

    assertThat(get(waiting).token()).isGreaterThan(held.token());
    line.condition(NetworkCondition.FAIR);
    get(waiting).close();
  }

  @Test
  void givenFirstWaiterWhoseNodeWasRemoved_whenTheHolderGivesBack_thenTheOneBehindHolds()
      throws Exception {
    CompletableFuture<Lease> next = waitAsThird();
    removeTheWaitersNode();

    held.close();

    Lease behind = get(next);
    behind.close();
    // It queued again, with a node of its own behind all existing ones.
    assertThat(get(waiting).token()).isGreaterThan(behind.token());
    get(waiting).close();
  }

  @Test
  void givenWaiterOfAShortLine_whenTheOneBeforeItIsGone_thenItAsksOnceAndHolds() throws Exception {
    CompletableFuture<Lease> next = waitAsThird();
    BoundedWait.until(LONG, "the third watches the second", () -> watchersOfTheWaiter() == 2);
    held.close();
    get(waiting);
    // Its answer comes after those to all earlier requests.
    third.lock("y").acquireWithin(LONG).close();
    int before = packetCounter.asked();

    removeTheWaitersNode();

    assertThat(get(next).token()).isGreaterThan(get(waiting).token());
    assertThat(packetCounter.asked()).isEqualTo(before + 1);
    get(next).close();
  }

  @Test
  void givenFirstWaiterThatHeardNothing_whileItsNodeAndTheHoldersWent_thenTheOneBehindHolds()
      throws Exception {
    CompletableFuture<Lease> next = waitAsThird();
    line.condition(NetworkCondition.MUTE);
    removeTheWaitersNode();
    held.close();
    Lease behind = get(next);

    line.condition(NetworkCondition.FAIR);

    behind.close();
    assertThat(get(waiting).token()).isGreaterThan(behind.token());
    get(waiting).close();
  }
}
