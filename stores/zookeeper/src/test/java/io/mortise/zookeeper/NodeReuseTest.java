package io.mortise.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.HoldTerms;
import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockName;
import io.mortise.LockOptions;
import io.mortise.spi.AttemptId;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreSession;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testkit.server.FaultInjectionProxy.NetworkCondition;
import io.mortise.testserver.ZooKeeperServer;
import io.mortise.zookeeper.internal.node.LockQueue;
import io.mortise.zookeeper.internal.node.NodeData;
import io.mortise.zookeeper.internal.node.NodeLayout;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Attempts that reuse the node of their session's previous hold, which is about to be removed. */
@SuppressWarnings("try") // Closing may be interrupted.
@Timeout(120)
class NodeReuseTest {
  private static final Duration LONG = TestServer.LONG;
  private static final LockName NAME = LockName.of("x");

  private final ZooKeeperServer server = ZooKeeperUnderTest.server();
  private final FaultInjectionProxy line = FaultInjectionProxy.to(server.port());
  private final NodeLayout nodeLayout = new NodeLayout("/following-" + System.nanoTime());
  private final SessionId id = SessionId.random(new SecureRandom());
  private final CompletableFuture<SessionNotification> notifications = new CompletableFuture<>();

  private LockStore store;
  private StoreSession session;
  private ZooKeeper other;
  private String node = "";
  private Stat made = new Stat();
  private long token;
  private CompletableFuture<Reply> busy;

  /** The lock is held, and requests gather from now on until the line is fair again. */
  @BeforeEach
  void hold() throws Exception {
    other = TestServer.connect(server.address(), Duration.ofMinutes(2));
    store =
        ZooKeeperStore.open(
            "zk://127.0.0.1:" + line.port() + nodeLayout.root() + "?tick=100ms&timeout=60s");
    session =
        store.open(
            new SessionSpec(id, Duration.ofMinutes(2), new ClientLabel("host", 1, "follows")),
            notifications::complete);
    assertThat(session.renew(0, 1, List.of()).toCompletableFuture().get())
        .isInstanceOf(Renewal.Renewed.class);
    token = ((Reply.Granted) acquire(NAME, 1).get()).token();
    node = nodeLayout.lock(NAME) + "/" + LockQueue.node(Mode.SHARERS, 0);
    made = other.exists(node, false);
    line.condition(NetworkCondition.REQUESTS_HELD);
    busy = acquire(LockName.of("busy"), 99);
  }

  @AfterEach
  void closeAll() throws Exception {
    line.condition(NetworkCondition.FAIR);
    assertThat(busy).succeedsWithin(LONG);
    store.close();
    other.close();
    line.close();
  }

  private CompletableFuture<Reply> acquire(LockName name, int number) {
    CompletableFuture<Reply> reply = new CompletableFuture<>();
    session.submit(
        new Request.Acquire(
            name, new AttemptId(id, number), Mode.EXCLUSIVE, true, HoldTerms.NONE, 1, 0, null),
        reply::complete);
    return reply;
  }

  private CompletableFuture<Reply> release(int number) {
    CompletableFuture<Reply> reply = new CompletableFuture<>();
    session.submitLater(new Request.Abandon(NAME, new AttemptId(id, number)), reply::complete);
    return reply;
  }

  private static Reply.Ended ended(CompletableFuture<Reply> reply) throws Exception {
    assertThat(reply).succeedsWithin(LONG).isInstanceOf(Reply.Ended.class);
    return (Reply.Ended) reply.get();
  }

  private static Reply.Granted granted(CompletableFuture<Reply> reply) throws Exception {
    assertThat(reply).succeedsWithin(LONG).isInstanceOf(Reply.Granted.class);
    return (Reply.Granted) reply.get();
  }

  /** The attempt in the node's data; 0 if the node is gone. */
  private long holder() {
    try {
      NodeData.AttemptData attemptData = NodeData.attempt(other.getData(node, false, null));
      return attemptData == null ? 0 : attemptData.attempt().number();
    } catch (KeeperException e) {
      return 0;
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void givenReleaseThatWasNotSent_whenTheLockIsTakenAgain_thenTheNodeStays_andTokensRise()
      throws Exception {
    CompletableFuture<Reply> release = release(1);
    CompletableFuture<Reply> next = acquire(NAME, 2);
    line.condition(NetworkCondition.FAIR);

    assertThat(ended(release).was()).isEqualTo(Reply.AttemptState.HELD);
    assertThat(ended(release).how()).isEqualTo(Reply.EndReason.RELEASED);
    assertThat(granted(next).token()).isGreaterThan(token);
    assertThat(granted(next).wanted()).isFalse();
    assertThat(other.exists(node, false).getCzxid()).isEqualTo(made.getCzxid());
    assertThat(holder()).isEqualTo(2);

    assertThat(ended(release(2)).how()).isEqualTo(Reply.EndReason.RELEASED);
    assertThat(other.exists(node, false)).isNull();
    assertThat(granted(acquire(NAME, 3)).token()).isGreaterThan(granted(next).token());
  }

  @Test
  void givenAnswerThatIsLost_thenTheNodeIsFoundAgain_andTokensRise() throws Exception {
    line.condition(NetworkCondition.FAIR);
    assertThat(busy).succeedsWithin(LONG);
    line.condition(NetworkCondition.ANSWERS_HELD);
    busy = acquire(LockName.of("busy"), 98);
    CompletableFuture<Reply> release = release(1);
    CompletableFuture<Reply> next = acquire(NAME, 2);
    // This many do not wait for earlier requests.
    List<CompletableFuture<Reply>> others = new ArrayList<>();
    for (int i = 0; i < 16; i++) {
      others.add(acquire(LockName.of("other" + i), 10 + i));
    }
    BoundedWait.until(LONG, "the node was given to the next", () -> holder() == 2);
    line.reset();
    line.condition(NetworkCondition.FAIR);
    assertThat(release).succeedsWithin(LONG).isInstanceOf(Reply.Failed.class);
    assertThat(next).succeedsWithin(LONG).isInstanceOf(Reply.Failed.class);
    assertThat(others).allSatisfy(reply -> assertThat(reply).succeedsWithin(LONG));

    CompletableFuture<Long> found = new CompletableFuture<>();
    BoundedWait.until(
        LONG,
        "it is granted",
        () -> {
          if (acquire(NAME, 2).join() instanceof Reply.Granted granted) {
            found.complete(granted.token());
          }
          return found.isDone();
        });
    assertThat(found.get()).isGreaterThan(token);
    assertThat(other.exists(node, false).getCzxid()).isEqualTo(made.getCzxid());
    assertThat(ended(release(1)).how()).isEqualTo(Reply.EndReason.RELEASED);
    assertThat(holder()).isEqualTo(2);
  }

  @Test
  void givenNodeThatSomebodyRemoved_thenTheNextHasOneOfItsOwn_andTheLastHearsOfIt()
      throws Exception {
    CompletableFuture<Reply> release = release(1);
    CompletableFuture<Reply> next = acquire(NAME, 2);
    other.delete(node, -1);
    line.condition(NetworkCondition.FAIR);

    assertThat(ended(release).how()).isEqualTo(Reply.EndReason.UNKNOWN);
    assertThat(granted(next).token()).isGreaterThan(token);
    assertThat(other.getChildren(nodeLayout.lock(NAME), false))
        .containsExactly(LockQueue.node(Mode.SHARERS, 1));
  }

  @Test
  void givenNodeOfAnotherSessionInItsPlace_thenNothingIsBelieved() throws Exception {
    CompletableFuture<Reply> release = release(1);
    CompletableFuture<Reply> next = acquire(NAME, 2);
    other.delete(node, -1);
    other.create(node, NodeData.bytes("nobody"), Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
    line.condition(NetworkCondition.FAIR);

    assertThat(ended(release).how()).isEqualTo(Reply.EndReason.UNKNOWN);
    assertThat(next).succeedsWithin(LONG).isInstanceOf(Reply.Queued.class);
    other.delete(node, -1);
    assertThat(notifications)
        .succeedsWithin(LONG)
        .isInstanceOf(SessionNotification.HoldGranted.class);
  }

  @Test
  void givenSomebodyWhoWaits_whenHeIsKnown_thenNobodyFollows() throws Exception {
    line.condition(NetworkCondition.FAIR);
    try (LockClient waiter = client()) {
      CompletableFuture<Lease> waiting = waiter.lock("x").acquireAsync(LONG);
      assertThat(notifications)
          .succeedsWithin(LONG)
          .isInstanceOf(SessionNotification.Contended.class);
      CompletableFuture<Reply> release = release(1);
      CompletableFuture<Reply> next = acquire(NAME, 2);
      assertThat(ended(release).how()).isEqualTo(Reply.EndReason.RELEASED);
      assertThat(waiting).succeedsWithin(LONG);
      assertThat(next).succeedsWithin(LONG).isInstanceOf(Reply.Queued.class);
    }
  }

  @Test
  void givenThreadThatTakesALockAgainAndAgain_whenSomebodyElseWants_thenHeGetsIt()
      throws Exception {
    line.condition(NetworkCondition.FAIR);
    ended(release(1));
    LockOptions async = LockOptions.DEFAULTS.withReleaseAsync(true);
    AtomicBoolean enough = new AtomicBoolean();
    try (LockClient greedy = client();
        LockClient modest = client()) {
      CompletableFuture<Long> last =
          CompletableFuture.supplyAsync(
              () -> {
                long before = 0;
                try {
                  while (!enough.get()) {
                    try (Lease lease = greedy.lock("x", async).acquireWithin(LONG)) {
                      assertThat(lease.token()).isGreaterThan(before);
                      before = lease.token();
                    }
                  }
                } catch (InterruptedException e) {
                  throw new AssertionError(e);
                }
                return before;
              });
      long before = 0;
      for (int i = 0; i < 20; i++) {
        try (Lease lease = modest.lock("x").acquireWithin(LONG)) {
          assertThat(lease.token()).isGreaterThan(before);
          before = lease.token();
        }
      }
      enough.set(true);
      assertThat(last).succeedsWithin(LONG);
    }
  }

  private LockClient client() {
    return LockClient.builder()
        .url(Scheme.ZK.url(server.address(), nodeLayout.root()))
        .ttl(Duration.ofMinutes(1))
        .build();
  }
}
