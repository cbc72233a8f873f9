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
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreSession;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testserver.ZooKeeperServer;
import io.mortise.zookeeper.internal.node.LockQueue;
import io.mortise.zookeeper.internal.node.NodeData;
import io.mortise.zookeeper.internal.node.NodeLayout;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Locks whose last holder was this session, so that it need not read whether its node is the only
 * one.
 */
@SuppressWarnings("try") // Closing may be interrupted.
class SoleUserCacheTest {
  private static final Duration LONG = TestServer.LONG;
  private static final int ENOUGH = 5;

  /** It does not remove containers that a test is about to replace. */
  private final ZooKeeperServer server = ZooKeeperUnderTest.server();

  /** A fresh root in each run. */
  private final NodeLayout nodeLayout = new NodeLayout("/regulars-" + System.nanoTime());

  private final String directory = nodeLayout.lock(LockName.of("x"));

  private LockClient client(int port) {
    return LockClient.builder()
        .url(Scheme.ZK.url("127.0.0.1:" + port, nodeLayout.root()))
        .ttl(Duration.ofMinutes(3))
        .build();
  }

  private LockClient client() {
    return client(server.port());
  }

  /** Until no more reads are needed. Returns the last token. */
  private static long makeRegular(LockClient client) throws InterruptedException {
    long token = 0;
    for (int i = 0; i < ENOUGH; i++) {
      token = taken(client, token);
    }
    return token;
  }

  /** Acquires and releases the lock; returns the token. */
  private static long taken(LockClient client, long before) throws InterruptedException {
    try (Lease lease = client.lock("x").acquireWithin(LONG)) {
      assertThat(lease.token()).isGreaterThan(before);
      return lease.token();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void givenLockThatIsTakenAgainAndAgain_thenTokensRise(boolean async) throws Exception {
    LockOptions options = LockOptions.DEFAULTS.withReleaseAsync(async);
    long token = 0;
    try (LockClient client = client()) {
      for (int i = 0; i < 200; i++) {
        try (Lease lease = client.lock("x", options).acquireWithin(LONG)) {
          assertThat(lease.token()).isGreaterThan(token);
          token = lease.token();
        }
      }
    }
    try (LockClient other = client()) {
      taken(other, token);
    }
  }

  @Test
  void givenLockThatTwoTakeInTurns_thenTokensRiseAndEachWaitsForTheOther() throws Exception {
    try (LockClient one = client();
        LockClient other = client()) {
      long token = 0;
      for (int i = 0; i < 20; i++) {
        token = taken(one, token);
        for (int times = 0; times < i % 7; times++) {
          token = taken(other, token);
        }
        Lease held = (i % 2 == 0 ? one : other).lock("x").acquireWithin(LONG);
        LockClient waiter = i % 2 == 0 ? other : one;
        assertThat(waiter.lock("x").tryAcquire()).isEmpty();
        CompletableFuture<Lease> waiting = waiter.lock("x").acquireAsync(LONG);
        assertThat(held.token()).isGreaterThan(token);
        token = held.token();
        held.close();
        try (Lease next = waiting.get()) {
          assertThat(next.token()).isGreaterThan(token);
          token = next.token();
        }
      }
    }
  }

  /** The next number of the new container is the one that would follow in the old one. */
  @Test
  void givenContainerThatWasMadeAnew_whenItsNumbersFitByChance_thenItsHolderIsSeen()
      throws Exception {
    try (LockClient client = client();
        ZooKeeper other = TestServer.connect(server.address(), Duration.ofSeconds(30))) {
      long token = makeRegular(client);
      int made = other.exists(directory, false).getCversion();
      assertThat(made).isEqualTo(2 * ENOUGH);

      replaceContainer(other, ENOUGH);
      assertThat(client.lock("x").tryAcquire()).isEmpty();
      assertThat(other.getChildren(directory, false)).hasSize(1);
      waitBehindTheOther(client, other, token);
    }
  }

  private void waitBehindTheOther(LockClient client, ZooKeeper other, long token) throws Exception {
    CompletableFuture<Lease> waiting = client.lock("x").acquireAsync(LONG);
    BoundedWait.until(LONG, "it waits", () -> children(other) == 2);
    assertThat(waiting).isNotDone();
    other.delete(directory + "/" + LockQueue.node(Mode.SHARERS, ENOUGH - 1), -1);
    try (Lease lease = waiting.get()) {
      assertThat(lease.token()).isGreaterThan(token);
    }
  }

  private int children(ZooKeeper other) {
    try {
      return other.getChildren(directory, false).size();
    } catch (KeeperException e) {
      return -1;
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /**
   * Replaces it by a new one, in which that many nodes were made, and the last of them still
   * exists.
   */
  private void replaceContainer(ZooKeeper other, int nodes) throws Exception {
    String prefix = directory + "/" + LockQueue.prefix(Mode.SHARERS);
    byte[] nobody = NodeData.bytes("nobody");
    List<Op> ops = new ArrayList<>();
    ops.add(Op.delete(directory, -1));
    ops.add(
        Op.create(
            directory, NodeData.capacity(Mode.SHARERS), Ids.OPEN_ACL_UNSAFE, CreateMode.CONTAINER));
    for (int i = 0; i < nodes; i++) {
      ops.add(Op.create(prefix, nobody, Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL_SEQUENTIAL));
    }
    List<OpResult> results = other.multi(ops);
    assertThat(((OpResult.CreateResult) results.get(results.size() - 1)).getPath())
        .isEqualTo(directory + "/" + LockQueue.node(Mode.SHARERS, nodes - 1));
    for (int i = 0; i < nodes - 1; i++) {
      other.delete(directory + "/" + LockQueue.node(Mode.SHARERS, i), -1);
    }
  }

  @Test
  void givenContainerThatWasMadeAnew_whenTheConnectionWasDownMeanwhile_thenItsHolderIsSeen()
      throws Exception {
    try (FaultInjectionProxy line = FaultInjectionProxy.to(server.port());
        LockClient client = client(line.port());
        ZooKeeper other = TestServer.connect(server.address(), Duration.ofSeconds(30))) {
      long token = makeRegular(client);
      line.cut();
      replaceContainer(other, ENOUGH);
      line.lead(server.port());
      waitBehindTheOther(client, other, token);
    }
  }

  /** A hold has 65,536 tokens, which its successors share. */
  @Test
  void givenHoldsThatUseUpManyTokens_thenNoneIsGivenTwice() throws Exception {
    SessionId id = SessionId.random(new SecureRandom());
    LockName name = LockName.of("x");
    try (LockStore store = ZooKeeperStore.open(server.url() + nodeLayout.root() + "?tick=100ms")) {
      StoreSession session =
          store.open(
              new SessionSpec(id, Duration.ofMinutes(2), new ClientLabel("host", 1, "many")),
              notifications -> {});
      assertThat(session.renew(0, 1, List.of()).toCompletableFuture().get())
          .isInstanceOf(Renewal.Renewed.class);
      long last = 0;
      for (int i = 1; i <= 40; i++) {
        AttemptId attempt = new AttemptId(id, i);
        Reply reply =
            submit(
                session,
                new Request.Acquire(
                    name,
                    attempt,
                    Mode.EXCLUSIVE,
                    true,
                    HoldTerms.NONE,
                    Request.MAX_TOKENS,
                    0,
                    null));
        assertThat(reply).isInstanceOf(Reply.Granted.class);
        Reply.Granted granted = (Reply.Granted) reply;
        assertThat(granted.token()).isGreaterThan(last);
        last = granted.token() + granted.tokens() - 1;
        assertThat(submit(session, new Request.Abandon(name, attempt)))
            .isInstanceOf(Reply.Ended.class);
      }
      session.close().toCompletableFuture().get();
    }
  }

  private static Reply submit(StoreSession session, Request request) throws Exception {
    CompletableFuture<Reply> reply = new CompletableFuture<>();
    session.submit(request, reply::complete);
    return reply.get();
  }
}
