package io.mortise.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.FencingToken;
import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.StaleTokenException;
import io.mortise.StoreUnavailableException;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.server.LossyDisk;
import io.mortise.testserver.ZooKeeperServer;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Data that the servers lose: without fsync, by deleted nodes, or all. */
@SuppressWarnings("try") // Closing may be interrupted.
@Tag("extended")
class LostDataTest {
  private static final Duration LONG = Duration.ofSeconds(40);

  private static LockClient client(ZooKeeperServer server, Scheme scheme) {
    return client(server, scheme, Duration.ofMinutes(3));
  }

  private static LockClient client(ZooKeeperServer server, Scheme scheme, Duration ttl) {
    return LockClient.builder().url(scheme.url(server.address(), "/lost")).ttl(ttl).build();
  }

  @ParameterizedTest
  @EnumSource
  void givenHolderAndWaiter_whenThePowerFails_thenTheHolderHolds_andTheWaiterKeepsItsPlace(
      Scheme scheme) throws Exception {
    Optional<LossyDisk> mounted = LossyDisk.mount();
    Assumptions.assumeTrue(mounted.isPresent(), "SKIPPED: it needs root that may mount a disk.");
    try (LossyDisk disk = mounted.orElseThrow();
        ZooKeeperServer server =
            ZooKeeperServer.start(
                TestServer.forcing().with("dataLogDir", disk.folder().toString()));
        LockClient a = client(server, scheme);
        LockClient b = client(server, scheme)) {
      disk.settle();
      Lease held = a.lock("x").acquireWithin(LONG);
      long token = held.token();
      // The server may need some time to start again.
      CompletableFuture<Lease> waiting = b.lock("x").acquireAsync(LONG.multipliedBy(3));
      BoundedWait.until(LONG, "b waits", () -> waiters(a) == 1);

      disk.cutPower(server, () -> {});

      BoundedWait.until(LONG, "the server answers", () -> waiters(a) == 1);
      held.ensureValid();
      assertThat(waiting).isNotDone();
      held.close();
      try (Lease next = waiting.get()) {
        assertThat(next.token()).isGreaterThan(token);
      }
    }
  }

  private static int waiters(LockClient client) {
    try {
      return client.admin().find("x").map(view -> view.waiters().size()).orElse(0);
    } catch (StoreUnavailableException e) {
      return -1;
    }
  }

  @ParameterizedTest
  @EnumSource
  void givenHolder_whenItsNodeIsDeleted_thenTwoBelieve_andTheNextTokenIsGreater(Scheme scheme)
      throws Exception {
    ZooKeeperServer server = TestServer.shared();
    try (ZooKeeper admin = TestServer.connect(server.address(), LONG);
        LockClient holder = client(server, scheme);
        LockClient other = client(server, scheme)) {
      Lease lease = holder.lock("x").acquireWithin(LONG);
      long token = lease.token();
      for (String node : scheme.nodes(admin, "/lost", "x")) {
        admin.delete(node, -1);
      }
      try (Lease next = other.lock("x").acquireWithin(LONG)) {
        assertThat(next.token()).isGreaterThan(token);
        assertThat(lease.isValid()).as("its holder is not told").isTrue();
      }
    }
  }

  /** A file with the tokens from before must not refuse the present holders. */
  @Test
  void givenHolder_whenTheServersDataIsRemoved_thenTheNextTokenIsGreater_andItsHolderIsLetIn()
      throws Exception {
    try (ZooKeeperServer server = ZooKeeperServer.start(TestServer.setup());
        ZooKeeper elsewhere = TestServer.connect(TestServer.shared().address(), LONG);
        LockClient holder = client(server, Scheme.ZK, Duration.ofSeconds(6))) {
      raiseTransactions(server);
      ZkFence fence = ZkFence.under(elsewhere, "/fences-lost");
      Lease lease = holder.lock("x").acquireWithin(LONG);
      FencingToken before = lease.fencingToken();
      fence.enter(before);

      server.restartEmpty();

      try (LockClient other = client(server, Scheme.ZK);
          Lease next = other.lock("x").acquireWithin(LONG)) {
        assertThat(next.token()).isGreaterThan(before.value());
        fence.enter(next);
        assertThatThrownBy(() -> fence.enter(before)).isInstanceOf(StaleTokenException.class);
        assertThat(other.admin().find("x").orElseThrow().holders().get(0).token())
            .isLessThanOrEqualTo(next.token())
            .isGreaterThan(before.value());
      }
      // The earlier holder resumes, and goes on in the new epoch.
      BoundedWait.until(LONG, "its lease was lost", () -> lease.state() == Lease.State.LOST);
      try (Lease again = holder.lock("x").acquireWithin(LONG)) {
        fence.enter(again);
      }
    }
  }

  /** In Curator's layout, its nodes are compared with ours by their plain numbers. */
  @Test
  void givenHolder_whenTheServersDataIsRemoved_thenTwoBelieve_andTheNextTokenIsLower()
      throws Exception {
    try (ZooKeeperServer server = ZooKeeperServer.start(TestServer.setup());
        LockClient holder = client(server, Scheme.CURATOR)) {
      raiseTransactions(server);
      Lease lease = holder.lock("x").acquireWithin(LONG);
      long token = lease.token();

      server.restartEmpty();

      try (LockClient other = client(server, Scheme.CURATOR);
          Lease next = other.lock("x").acquireWithin(LONG)) {
        assertThat(lease.isValid()).isTrue();
        assertThat(next.token()).isLessThan(token);
      }
    }
  }

  /** A root of a release without epochs: tokens go on without one. */
  @Test
  void givenRootOfAnEarlierRelease_thenTokensGoOnWithoutABeginning() throws Exception {
    ZooKeeperServer server = TestServer.shared();
    try (ZooKeeper admin = TestServer.connect(server.address(), LONG)) {
      admin.create("/earlier", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.CONTAINER);
      // Else the server removes it as soon as the node that tested the rights is gone.
      admin.create("/earlier/used", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
      String url = Scheme.ZK.url(server.address(), "/earlier");
      try (LockClient client = LockClient.builder().url(url).ttl(LONG).build();
          Lease lease = client.lock("x").acquireWithin(LONG)) {
        String node = Scheme.ZK.nodes(admin, "/earlier", "x").get(0);
        assertThat(lease.token() >> 16).isEqualTo(admin.exists(node, false).getCzxid());
        assertThat(admin.exists("/earlier/epoch", false)).isNull();
      }
    }
  }

  private static void raiseTransactions(ZooKeeperServer server) throws Exception {
    try (ZooKeeper admin = TestServer.connect(server.address(), LONG)) {
      for (int i = 0; i < 200; i++) {
        admin.create("/past" + i, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
      }
    }
  }
}
