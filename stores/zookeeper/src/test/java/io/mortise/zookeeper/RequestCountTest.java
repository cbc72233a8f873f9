package io.mortise.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockName;
import io.mortise.LockOptions;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testkit.server.FaultInjectionProxy.NetworkCondition;
import io.mortise.testserver.ZooKeeperServer;
import io.mortise.zookeeper.internal.node.NodeLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.Test;

/** The number of requests and watches. */
@SuppressWarnings("try") // Closing may be interrupted.
class RequestCountTest {
  private static final Duration LONG = TestServer.LONG;

  /** A server that removes no container between two uses: it would have to be made again. */
  private final ZooKeeperServer server = ZooKeeperUnderTest.server();

  private LockClient client(String servers, String root) {
    return LockClient.builder()
        .url(Scheme.ZK.url(servers, root))
        // No renewal happens during a test.
        .ttl(Duration.ofMinutes(20))
        .build();
  }

  @Test
  void givenFreeLock_thenItIsTakenInOneRoundTrip_andReleasedByOnePacket() throws Exception {
    NodeLayout nodeLayout = new NodeLayout("/traffic-" + System.nanoTime());
    try (PacketCounter packetCounter = new PacketCounter(server.port());
        FaultInjectionProxy line = FaultInjectionProxy.to(packetCounter.port());
        LockClient client = client("127.0.0.1:" + line.port(), nodeLayout.root());
        LockClient other = client(server.address(), nodeLayout.root())) {
      // A lock with one user: its creation alone, and no read.
      for (int i = 0; i < 4; i++) {
        client.lock("x").acquireWithin(LONG).close();
      }
      takenInOneRoundTrip(line, client, packetCounter, 1);

      // A lock that another session has taken: the container is read with it.
      other.lock("x").acquireWithin(LONG).close();
      client.lock("x").acquireWithin(LONG).close();
      takenInOneRoundTrip(line, client, packetCounter, 2);
    }
  }

  private static void takenInOneRoundTrip(
      FaultInjectionProxy line, LockClient client, PacketCounter packetCounter, int packets)
      throws Exception {
    int before = packetCounter.asked();
    // All requests are sent before any is answered.
    line.condition(NetworkCondition.ANSWERS_HELD);
    CompletableFuture<Lease> acquiring = client.lock("x").acquireAsync(LONG);
    BoundedWait.until(LONG, "all was sent", () -> packetCounter.asked() >= before + packets);
    assertThat(acquiring).isNotDone();
    line.condition(NetworkCondition.FAIR);
    Lease lease = acquiring.get(LONG.toMillis(), TimeUnit.MILLISECONDS);
    assertThat(packetCounter.asked()).isEqualTo(before + packets);
    lease.close();
    assertThat(packetCounter.asked()).isEqualTo(before + packets + 1);
  }

  @Test
  void givenHolderThatKnowsOfAWaiter_whenItGivesBack_thenThatDoesNotWaitForWhatElseItHasAsked()
      throws Exception {
    // A fresh root in each run, since notes are counted.
    NodeLayout nodeLayout = new NodeLayout("/traffic-handoff-" + System.nanoTime());
    try (FaultInjectionProxy line = FaultInjectionProxy.to(server.port());
        LockClient holder = client("127.0.0.1:" + line.port(), nodeLayout.root());
        LockClient other = client(server.address(), nodeLayout.root());
        ZooKeeper looking = TestServer.connect(server.address(), Duration.ofSeconds(30))) {
      holder.lock("y").acquireWithin(LONG).close();
      Lease held = holder.lock("x").acquireWithin(LONG);
      CompletableFuture<Lease> waiting = other.lock("x").acquireAsync(LONG);
      BoundedWait.until(
          LONG, "the holder has read its note", () -> notesRead(looking, nodeLayout) == 1);

      line.condition(NetworkCondition.ANSWERS_HELD);
      CompletableFuture<Lease> unanswered = holder.lock("y").acquireAsync(LONG);
      CompletableFuture<Void> released = held.releaseAsync();

      try (Lease next = waiting.get(LONG.toMillis(), TimeUnit.MILLISECONDS)) {
        assertThat(next.token()).isGreaterThan(held.token());
        assertThat(unanswered).isNotDone();
        assertThat(released).isNotDone();
      }
      line.condition(NetworkCondition.FAIR);
      released.get(LONG.toMillis(), TimeUnit.MILLISECONDS);
      unanswered.get(LONG.toMillis(), TimeUnit.MILLISECONDS).close();
    }
  }

  /** How many notes were written to holders, and removed by them. */
  private static int notesRead(ZooKeeper client, NodeLayout nodeLayout) {
    try {
      int read = 0;
      for (String session : client.getChildren(nodeLayout.allNotes(), false)) {
        Stat stat = client.exists(nodeLayout.allNotes() + "/" + session, false);
        // Each creation and each removal of a child counts.
        read += stat == null ? 0 : (stat.getCversion() - stat.getNumChildren()) / 2;
      }
      return read;
    } catch (KeeperException e) {
      return 0;
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void givenManyWaiters_thenEachNodeIsWatchedByTheNextOnly_andTheFirstWaitersByItself()
      throws Exception {
    String directory = new NodeLayout("/herd").lock(LockName.of("x"));
    int waiters = 90;
    List<LockClient> clients = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      clients.add(client(server.address(), "/herd"));
    }
    LockClient holder = client(server.address(), "/herd");
    Lease lease = holder.lock("x").acquireWithin(LONG);
    List<CompletableFuture<Lease>> waiting = new ArrayList<>();
    for (int i = 0; i < waiters; i++) {
      waiting.add(
          clients
              .get(i % 3)
              .lock("x", LockOptions.DEFAULTS.withFair(true))
              .acquireAsync(Duration.ofMinutes(5)));
    }
    BoundedWait.until(LONG, "all watch", () -> watchers(directory).size() == waiters);
    assertThat(watchers(directory)).filteredOn(sessions -> sessions == 2).hasSizeLessThan(2);
    assertThat(watchers(directory)).allMatch(sessions -> sessions <= 2);
    lease.close();
    for (int i = 0; i < waiters; i++) {
      CompletableFuture.anyOf(waiting.toArray(CompletableFuture[]::new)).get();
      CompletableFuture<Lease> next =
          waiting.stream().filter(CompletableFuture::isDone).findFirst().orElseThrow();
      assertThat(waiting.stream().filter(CompletableFuture::isDone).count()).isEqualTo(1);
      waiting.removeIf(CompletableFuture::isDone);
      next.get().close();
    }
    BoundedWait.until(LONG, "nobody watches", () -> watchers(directory).isEmpty());
    clients.forEach(LockClient::close);
    holder.close();
  }

  /** The number of sessions that watch each node in the directory. */
  private List<Integer> watchers(String directory) {
    List<Integer> found = new ArrayList<>();
    boolean inside = false;
    for (String text : server.ask("wchp").lines().toList()) {
      if (text.startsWith("/")) {
        inside = text.startsWith(directory + "/");
        if (inside) {
          found.add(0);
        }
      } else if (inside && text.startsWith("\t")) {
        found.set(found.size() - 1, found.get(found.size() - 1) + 1);
      }
    }
    return found;
  }
}
