package io.mortise.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.DistributedLock;
import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockOptions;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.RerunIfPaused;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testserver.ZooKeeperServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Many waiters for one lock, each with a node of its own in one queue. {@code
 * -Dmortise.waiters=10000} runs it in full; by default a few hundred, which takes seconds.
 */
@Tag("extended")
class ManyWaitersTest {
  private static final int WAITERS = Integer.getInteger("mortise.waiters", 400);
  private static final Duration LONG = Duration.ofMinutes(8);

  /** Each waiter polls several times, and no pause of a busy machine ends a session. */
  private static final Duration LONG_TTL = Duration.ofSeconds(40);

  /** A waiter's grant; listed in the order of the grants. */
  private record GrantedTurn(int client, int number, long token) {}

  @Test
  @Timeout(600)
  void givenManyWaitersOfTwoSessions_whenTheLockIsFree_thenEachHasItsTurn_inOrder_andNothingIsLeft()
      throws Exception {
    try (ZooKeeperServer server = ZooKeeperServer.start();
        LockClient holder = client(server.address(), LONG_TTL);
        LockClient one = client(server.address(), LONG_TTL);
        LockClient other = client(server.address(), LONG_TTL)) {
      Lease held = holder.lock("x").acquire();
      long nodes = ephemerals(server);
      Queue<GrantedTurn> turns = new ConcurrentLinkedQueue<>();
      AtomicInteger inside = new AtomicInteger();
      AtomicInteger overlaps = new AtomicInteger();
      List<CompletableFuture<Void>> ends = new ArrayList<>();
      for (int i = 0; i < WAITERS; i++) {
        int client = i % 2;
        int number = i / 2;
        DistributedLock lock =
            (client == 0 ? one : other).lock("x", LockOptions.DEFAULTS.withFair(true));
        ends.add(
            lock.acquireAsync(LONG)
                .thenCompose(
                    lease -> {
                      if (inside.incrementAndGet() != 1) {
                        overlaps.incrementAndGet();
                      }
                      turns.add(new GrantedTurn(client, number, lease.token()));
                      inside.decrementAndGet();
                      return lease.releaseAsync();
                    }));
      }
      BoundedWait.until(
          LONG, "all stand in the queue", () -> ephemerals(server) >= nodes + WAITERS);
      assertThat(turns).isEmpty();
      long token = held.token();
      long from = System.nanoTime();
      held.close();
      BoundedWait.until(
          LONG, "all have had their turn", () -> ends.stream().allMatch(CompletableFuture::isDone));
      System.out.printf(
          "ManyWaitersTest: %d waiters, %.2f ms from one to the next%n",
          WAITERS, (System.nanoTime() - from) / 1e6 / WAITERS);

      CompletableFuture.allOf(ends.toArray(CompletableFuture[]::new)).join();
      assertThat(overlaps).hasValue(0);
      assertThat(turns).hasSize(WAITERS);
      assertThat(turns).extracting(GrantedTurn::token).isSorted().doesNotHaveDuplicates();
      assertThat(turns.peek().token()).isGreaterThan(token);
      for (int client = 0; client < 2; client++) {
        int which = client;
        assertThat(turns.stream().filter(turn -> turn.client() == which))
            .extracting(GrantedTurn::number)
            .isSorted();
      }
      BoundedWait.until(LONG, "no node is left", () -> ephemerals(server) <= nodes - 1);
    }
  }

  @Test
  @RerunIfPaused
  @Timeout(180)
  void givenSeveralDeadWaiters_whenTheHolderReleases_thenTheNextLiveOneWaitsForOneSessionOnly()
      throws Exception {
    Duration ttl = Duration.ofSeconds(3);
    int dead = 4;
    List<LockClient> dying = new ArrayList<>();
    try (ZooKeeperServer server = ZooKeeperServer.start();
        FaultInjectionProxy line = FaultInjectionProxy.to(server.port());
        LockClient holder = client(server.address(), LONG_TTL);
        LockClient live = client(server.address(), LONG_TTL)) {
      Lease held = holder.lock("x").acquire();
      List<CompletableFuture<Lease>> lost = new ArrayList<>();
      for (int i = 0; i < dead; i++) {
        LockClient one = client("127.0.0.1:" + line.port(), ttl);
        dying.add(one);
        lost.add(one.lock("x").acquireAsync(LONG));
        int so = i + 1;
        BoundedWait.until(LONG, so + " wait", () -> waiters(holder) == so);
      }
      CompletableFuture<Lease> waiting = live.lock("x").acquireAsync(LONG);
      BoundedWait.until(LONG, "the live one waits", () -> waiters(holder) == dead + 1);

      line.cut();
      long from = System.nanoTime();
      held.close();
      Lease next = waiting.get();
      Duration took = Duration.ofNanos(System.nanoTime() - from);

      System.out.println("ManyWaitersTest: the next live one waited for " + took);
      assertThat(lost).noneMatch(CompletableFuture::isDone);
      assertThat(took).isLessThan(ttl.plusSeconds(10));
      next.close();
      // Closing may take long, since the server is gone.
      dying.parallelStream().forEach(LockClient::close);
    }
  }

  private static int waiters(LockClient client) {
    return client.admin().find("x").map(lock -> lock.waiters().size()).orElse(0);
  }

  private static LockClient client(String address, Duration ttl) {
    LockClient client =
        LockClient.builder()
            .url("zk://" + address + "/crowd?tick=200ms&timeout=60s")
            .ttl(ttl)
            .build();
    try (Lease warm = client.lock("warm").acquireAsync(LONG).join()) {
      assertThat(warm.isValid()).isTrue();
    }
    return client;
  }

  private static long ephemerals(ZooKeeperServer server) {
    return server
        .ask("mntr")
        .lines()
        .filter(line -> line.startsWith("zk_ephemerals_count\t"))
        .mapToLong(line -> Long.parseLong(line.substring(line.indexOf('\t') + 1)))
        .findFirst()
        .orElse(-1);
  }
}
