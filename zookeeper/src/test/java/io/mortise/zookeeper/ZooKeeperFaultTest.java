package io.mortise.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.spi.LockStore;
import io.mortise.testkit.Unpaused;
import io.mortise.testkit.Waits;
import io.mortise.testkit.server.ZooKeeperServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What a real server does to holders and waiters: restarts, silence, rubbish, other people's
 * clients.
 */
@Timeout(120)
class ZooKeeperFaultTest {
  private static final Duration LONG = Duration.ofSeconds(40);
  private static ZooKeeperServer server;

  private final List<AutoCloseable> open = new ArrayList<>();

  @BeforeAll
  static void start() {
    server = ZooKeeperServer.start(ZooKeeperServer.Setup.single().with("tickTime", "100"));
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @AfterEach
  void closeAll() throws Exception {
    for (int i = open.size() - 1; i >= 0; i--) {
      open.get(i).close();
    }
  }

  private LockClient client(String root, Duration ttl) {
    LockClient client =
        LockClient.builder().url(server.url() + root + "?tick=100ms&timeout=5s").ttl(ttl).build();
    open.add(client);
    return client;
  }

  @Test
  void givenHolderAndWaiter_whenTheServerRestarts_thenTheHolderKeepsTheLock_andTheWaiterItsPlace()
      throws Exception {
    LockClient a = client("/restart", Duration.ofSeconds(20));
    LockClient b = client("/restart", Duration.ofSeconds(20));
    Lease held = a.lock("x").acquire();
    CompletableFuture<Lease> waiting = b.lock("x").acquireAsync(LONG);
    Waits.until(LONG, "b waits", () -> b.inspect("x").orElseThrow().waiters().size() == 1);

    server.restart();

    Waits.until(LONG, "the server answers", () -> isHeldBy(a));
    assertThat(held.isValid()).isTrue();
    assertThat(waiting).isNotDone();
    long token = held.token();
    held.close();
    Lease next = waiting.get();
    assertThat(next.token()).isGreaterThan(token);
    next.close();
  }

  private static boolean isHeldBy(LockClient client) {
    try {
      return client.inspect("x").orElseThrow().holders().size() == 1;
    } catch (StoreUnavailableException e) {
      return false;
    }
  }

  @Test
  @Unpaused
  void givenHolder_whenTheServerFallsSilent_thenItIsToldBeforeAnybodyElseCanBeGranted()
      throws Exception {
    LockClient a = client("/silent", Duration.ofMillis(1500));
    Lease held = a.lock("x").acquire();
    server.pause();
    try {
      Waits.until(LONG, "the lease was lost", () -> !held.isValid());
    } finally {
      server.resume();
    }
    Lease next = client("/silent", Duration.ofSeconds(20)).lock("x").acquireWithin(LONG);
    assertThat(held.state()).isEqualTo(Lease.State.LOST);
    next.close();
    try (Lease again = a.lock("x").acquireWithin(LONG)) {
      again.ensureValid();
    }
  }

  @Test
  void givenLockThatWasUsedByMany_thenNoNodeNoWatchAndNoContainerIsLeft() throws Exception {
    LockClient a = client("/rubbish", Duration.ofSeconds(20));
    LockClient b = client("/rubbish", Duration.ofSeconds(20));
    List<CompletableFuture<Lease>> all = new ArrayList<>();
    for (int i = 0; i < 30; i++) {
      all.add((i % 2 == 0 ? a : b).readWriteLock("x").writeLock().acquireAsync(LONG));
      all.add((i % 2 == 0 ? a : b).semaphore("y", 3).permits(1 + i % 3).acquireAsync(LONG));
    }
    for (int i = 0; i < all.size(); i += 7) {
      all.get(i).cancel(true);
    }
    AtomicInteger held = new AtomicInteger();
    for (CompletableFuture<Lease> one : all) {
      var unused =
          one.thenAccept(
              lease -> {
                held.incrementAndGet();
                var released = lease.releaseAsync();
                assertThat(released).isNotNull();
              });
    }
    Waits.until(LONG, "all have held", () -> all.stream().allMatch(CompletableFuture::isDone));
    assertThat(held.get()).isBetween(all.size() - 9, all.size());
    a.close();
    b.close();
    Waits.until(
        LONG,
        "containers were removed",
        () -> !server.ask("wchp").contains("/rubbish") && count("/rubbish") <= 1);
  }

  /** Nodes below a root, itself included. */
  private static long count(String root) {
    try {
      ZooKeeper client = new ZooKeeper(server.address(), 10_000, event -> {});
      try {
        return client.exists(root, false) == null
            ? 0
            : org.apache.zookeeper.ZKUtil.listSubTreeBFS(client, root).size();
      } finally {
        client.close();
      }
    } catch (Exception e) {
      return Long.MAX_VALUE;
    }
  }

  @Test
  void givenClientHandedIn_thenItsSessionHolds_andNothingIsLeftWhenTheStoreIsClosed()
      throws Exception {
    ZooKeeper theirs = new ZooKeeper(server.address(), 20_000, event -> {});
    open.add(theirs);
    ZooKeeperStore.Options options =
        ZooKeeperStore.Options.DEFAULT.withRoot("/handed").withTick(Duration.ofMillis(100));
    LockStore store = ZooKeeperStore.over(theirs, options);
    LockClient locks = LockClient.builder().store(store).ttl(Duration.ofSeconds(20)).build();
    Lease lease = locks.lock("x").acquireWithin(LONG);
    assertThat(theirs.getEphemerals("/handed")).hasSize(2);
    assertThat(lease.isValid()).isTrue();
    lease.close();
    assertThat(client("/handed", Duration.ofSeconds(5)).lock("x").tryAcquire()).isPresent();
    locks.close();
    store.close();
    assertThat(theirs.getState().isConnected()).isTrue();
    Waits.until(
        LONG,
        "its own nodes were removed",
        () -> {
          try {
            return theirs.getEphemerals("/handed").isEmpty();
          } catch (Exception e) {
            return false;
          }
        });
  }

  @Test
  void givenTtlThatTheServersDoNotGrant_thenItIsSaid() {
    ZooKeeperServer strict =
        ZooKeeperServer.start(
            ZooKeeperServer.Setup.single()
                .with("tickTime", "100")
                .with("maxSessionTimeout", "900"));
    open.add(strict);
    LockClient locks =
        LockClient.builder().url(strict.url() + "?tick=100ms").ttl(Duration.ofSeconds(2)).build();
    open.add(locks);
    assertThatThrownBy(() -> locks.lock("x").tryAcquire())
        .isInstanceOf(StoreUnavailableException.class)
        .hasRootCauseInstanceOf(StoreUnfitException.class)
        .hasMessageContaining("maxSessionTimeout");
  }

  @Test
  void givenUserAndPassword_thenOthersMayNotTouchTheNodes() {
    String url = server.address() + "/closed?tick=100ms";
    LockClient ours = LockClient.connect("zk://app:se%2Fcret@" + url);
    open.add(ours);
    assertThat(ours.lock("x").tryAcquire()).isPresent();
    assertThatThrownBy(() -> LockClient.connect("zk://" + url + "&namespace=n"))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining("may not make");
  }

  @Test
  void givenNobodyThere_thenItIsUnavailable_andWrongUrlsAreRefused() {
    int nobody = ZooKeeperServer.freePort();
    assertThatThrownBy(
            () -> LockClient.connect("zk://127.0.0.1:" + nobody + "?timeout=300ms&tick=1s"))
        .isInstanceOf(StoreUnavailableException.class);
    for (String wrong :
        List.of(
            "zk://", "zk://a b:1", "zk://h:1?tock=1s", "zk://h:1?acl=creator", "zk://h:1?ca=/x")) {
      assertThatThrownBy(() -> ZooKeeperStore.open(wrong))
          .as(wrong)
          .isInstanceOf(IllegalArgumentException.class);
    }
  }
}
