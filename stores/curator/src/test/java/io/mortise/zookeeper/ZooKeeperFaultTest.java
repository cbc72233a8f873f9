package io.mortise.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.DistributedLock;
import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockClientBuilder;
import io.mortise.StoreUnavailableException;
import io.mortise.curator.CuratorOptions;
import io.mortise.curator.CuratorStore;
import io.mortise.spi.LockStore;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.RerunIfPaused;
import io.mortise.testserver.ZooKeeperServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Holders and waiters while a real server restarts, falls silent, sends rubbish, or serves foreign
 * clients.
 */
@SuppressWarnings("try") // Closing may be interrupted.
@Timeout(120)
class ZooKeeperFaultTest {
  private static final Duration LONG = Duration.ofSeconds(40);
  private static final Duration TICK = Duration.ofMillis(100);
  private static final Duration TWO_SECONDS = Duration.ofSeconds(2);
  private static ZooKeeperServer server;

  private final List<AutoCloseable> open = new ArrayList<>();

  @BeforeAll
  static void start() {
    server = TestServer.shared();
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
    LockClient a = client("/restart", Duration.ofSeconds(60));
    LockClient b = client("/restart", Duration.ofSeconds(60));
    Lease held = a.lock("x").acquire();
    CompletableFuture<Lease> waiting = b.lock("x").acquireAsync(LONG);
    BoundedWait.until(
        LONG, "b waits", () -> b.admin().find("x").orElseThrow().waiters().size() == 1);

    server.restart();

    BoundedWait.until(LONG, "the server answers", () -> isHeldBy(a));
    assertThat(held.isValid()).isTrue();
    assertThat(waiting).isNotDone();
    long token = held.token();
    held.close();
    Lease next = waiting.get();
    assertThat(next.token()).isGreaterThan(token);
    next.close();
  }

  /** As with a standalone server, for clients that connect while it starts (ZOOKEEPER-5051). */
  @ParameterizedTest
  @EnumSource
  void givenConnectionsThatAreNeverAnswered_thenTheyAreGivenUpSoon_andTheHolderHolds(Scheme scheme)
      throws Exception {
    ZooKeeperServer alone = ZooKeeperServer.start(TestServer.setup());
    open.add(alone);
    LockClient client =
        LockClient.builder()
            .url(scheme.url(alone.address(), "/unanswered"))
            .ttl(Duration.ofMinutes(4))
            .build();
    open.add(client);
    Lease held = client.lock("x").acquireWithin(LONG);
    long connections = alone.ask("cons").lines().filter(line -> line.contains("sid=")).count();
    assertThat(connections).isPositive();

    alone.kill();
    try (ServerSocket silent = silent(alone.port())) {
      for (long i = 0; i < connections; i++) {
        open.add(silent.accept());
      }
    }
    alone.restart();

    client.lock("y").acquireWithin(LONG).close();
    held.ensureValid();
    held.close();
  }

  private static ServerSocket silent(int port) throws IOException {
    ServerSocket socket = new ServerSocket(port, 50, InetAddress.getLoopbackAddress());
    socket.setSoTimeout(Math.toIntExact(LONG.toMillis()));
    return socket;
  }

  private static boolean isHeldBy(LockClient client) {
    try {
      return client.admin().find("x").orElseThrow().holders().size() == 1;
    } catch (StoreUnavailableException e) {
      return false;
    }
  }

  @Test
  @RerunIfPaused
  void givenHolder_whenTheServerFallsSilent_thenItIsToldBeforeAnybodyElseCanBeGranted()
      throws Exception {
    LockClient a = client("/silent", Duration.ofMillis(1500));
    Lease held = a.lock("x").acquire();
    server.pause();
    try {
      BoundedWait.until(LONG, "the lease was lost", () -> !held.isValid());
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

  @ParameterizedTest
  @EnumSource
  void givenLockThatWasUsedByMany_thenNoNodeNoWatchAndNoContainerIsLeft(Scheme scheme)
      throws Exception {
    String root = "/rubbish-" + scheme.name();
    LockClient a = client(scheme, root);
    LockClient b = client(scheme, root);
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
    BoundedWait.until(
        LONG, "all have held", () -> all.stream().allMatch(CompletableFuture::isDone));
    assertThat(held.get()).isBetween(all.size() - 9, all.size());
    // Their sessions go on.
    BoundedWait.until(
        LONG,
        "no node and no watch of a lock was left",
        () -> isUnused(scheme, root, "x") && isUnused(scheme, root, "y"));
    a.close();
    b.close();
    // The root keeps the token epoch.
    int kept = scheme == Scheme.ZK ? 2 : 1;
    BoundedWait.until(
        LONG,
        "containers were removed",
        () -> !server.ask("wchp").contains(root) && count(root) <= kept);
  }

  private LockClient client(Scheme scheme, String root) {
    LockClient client =
        LockClient.builder()
            .url(scheme.url(server.address(), root))
            .ttl(Duration.ofSeconds(20))
            .build();
    open.add(client);
    return client;
  }

  private boolean isUnused(Scheme scheme, String root, String lock) {
    try (ZooKeeper looking = TestServer.connect(server.address(), Duration.ofSeconds(20))) {
      return scheme.nodes(looking, root, lock).isEmpty()
          && !server.ask("wchp").contains("/" + lock + "/");
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  @ParameterizedTest
  @EnumSource
  void givenWaitersThatGiveUpAgainAndAgain_thenTheirWatchesDoNotPileUp(Scheme scheme)
      throws Exception {
    String root = "/watches-" + scheme.name();
    Lease lease = client(scheme, root).lock("x").acquireWithin(LONG);
    LockClient other = client(scheme, root);
    for (int i = 0; i < 12; i++) {
      assertThat(waitInVain(other.lock("x"))).isEmpty();
    }
    String node;
    try (ZooKeeper looking = TestServer.connect(server.address(), Duration.ofSeconds(20))) {
      node = scheme.nodes(looking, root, "x").get(0);
    }
    // The server keeps one watch for a process, until that node goes.
    BoundedWait.until(LONG, "no more than one was left", () -> watchers(node) <= 1);
    lease.close();
    BoundedWait.until(LONG, "none was left", () -> watchers(node) == 0);
  }

  /** The state is also unknown if the machine pauses, so that nothing arrives for a second. */
  private static Optional<Lease> waitInVain(DistributedLock lock) throws InterruptedException {
    try {
      return lock.tryAcquire(Duration.ofMillis(20));
    } catch (StoreUnavailableException e) {
      return Optional.empty();
    }
  }

  /** Lines of the form {@code path}, and below it one per session, indented. */
  private long watchers(String node) {
    List<String> lines = server.ask("wchp").lines().toList();
    int at = lines.indexOf(node);
    return at < 0
        ? 0
        : lines.subList(at + 1, lines.size()).stream()
            .takeWhile(line -> line.startsWith("\t"))
            .count();
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
    ZooKeeperOptions options =
        ZooKeeperOptions.DEFAULT.withRoot("/handed").withTick(Duration.ofMillis(100));
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
    BoundedWait.until(
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

  @ParameterizedTest
  @EnumSource
  void givenTtlThatTheServersDoNotGrant_thenTheClientIsRefused(Scheme scheme) {
    ZooKeeperServer strict =
        ZooKeeperServer.start(TestServer.setup().with("maxSessionTimeout", "900"));
    open.add(strict);
    LockClientBuilder locks =
        LockClient.builder().url(scheme.url(strict.address(), "/strict")).ttl(TWO_SECONDS);
    assertThatThrownBy(locks::build)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("TTL of 2s")
        .hasMessageContaining("maxSessionTimeout")
        .hasMessageContaining("at most 900ms");
    open.add(locks.ttl(Duration.ofMillis(900)).build());
  }

  @ParameterizedTest
  @EnumSource
  void givenClientHandedIn_whoseSessionIsShorterThanTheTtl_thenTheClientIsRefused(Scheme scheme)
      throws Exception {
    ZooKeeper theirs = TestServer.connect(TestServer.shared().address(), Duration.ofSeconds(1));
    open.add(theirs);
    LockStore store =
        scheme == Scheme.ZK
            ? ZooKeeperStore.over(theirs, ZooKeeperOptions.DEFAULT.withTick(TICK))
            : CuratorStore.over(() -> theirs, CuratorOptions.DEFAULT.withTick(TICK));
    open.add(store);
    assertThatThrownBy(() -> LockClient.builder().store(store).ttl(TWO_SECONDS).build())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("session timeout")
        .hasMessageContaining("at most 1s");
  }
}
